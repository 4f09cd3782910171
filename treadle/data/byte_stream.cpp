#include "treadle/data/byte_stream.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "treadle/core/error.h"

namespace treadle {
namespace {

class PlainStream final : public ByteStream {
 public:
  PlainStream(std::span<const std::byte> bytes, std::string_view file)
      : rest_(bytes), length_(bytes.size()), file_(file) {}

  void read(std::span<uint8_t> target) override {
    require<FormatError>(target.size() <= rest_.size(),
                         "{}: {} more bytes are needed, {} are left; the file is cut short", file_,
                         target.size(), rest_.size());
    if (!target.empty()) std::memcpy(target.data(), rest_.data(), target.size());
    rest_ = rest_.subspan(target.size());
  }
  void expect_end() override {
    require<FormatError>(rest_.empty(), "{}: {} bytes follow the last value", file_, rest_.size());
  }
  uint64_t most_bytes() const override { return length_; }

 private:
  std::span<const std::byte> rest_;
  uint64_t length_;
  std::string_view file_;
};

/// One gzip member (RFC 1952); its checksum is verified when its end is reached.
class GzipStream final : public ByteStream {
 public:
  GzipStream(std::span<const std::byte> bytes, std::string_view file)
      : rest_(bytes), length_(bytes.size()), file_(file) {
    constexpr int kGzipOnly = 16;
    require<FormatError>(inflateInit2(&state_, kGzipOnly + MAX_WBITS) == Z_OK,
                         "{}: zlib has no memory to unpack it", file);
  }
  ~GzipStream() override { inflateEnd(&state_); }

  void read(std::span<uint8_t> target) override {
    size_t count = unpack(target);
    require<FormatError>(count == target.size(),
                         "{}: {} more bytes are needed, the gzip stream ends after {}", file_, target.size(),
                         count);
  }

  void expect_end() override {
    uint8_t extra;
    require<FormatError>(unpack(std::span(&extra, 1)) == 0, "{}: unpacked bytes follow the last value",
                         file_);
    size_t left = state_.avail_in + rest_.size();
    require<FormatError>(left == 0, "{}: {} bytes follow the gzip stream", file_, left);
  }

  /// Deflate turns no byte into more than 1032.
  uint64_t most_bytes() const override { return length_ * 1032; }

 private:
  /// Fills target as far as the stream reaches; returns how far.
  size_t unpack(std::span<uint8_t> target) {
    size_t filled = 0;
    while (filled < target.size() && !ended_) filled += unpack_piece(target.subspan(filled));
    return filled;
  }

  size_t unpack_piece(std::span<uint8_t> target) {
    refill();
    state_.next_out = target.data();
    state_.avail_out = uInt(std::min(target.size(), kPiece));
    uInt before = state_.avail_out;
    int code = inflate(&state_, Z_NO_FLUSH);
    ended_ = code == Z_STREAM_END;
    uInt count = before - state_.avail_out;
    bool cut = code == Z_BUF_ERROR || (code == Z_OK && count == 0 && state_.avail_in == 0 && rest_.empty());
    require<FormatError>(!cut, "{}: the gzip stream is cut short", file_);
    require<FormatError>(code == Z_OK || ended_, "{}: the gzip stream is damaged ({})", file_,
                         state_.msg ? state_.msg : "zlib gives no reason");
    return count;
  }

  /// zlib counts in 32 bits: hand it the input piece by piece.
  void refill() {
    if (state_.avail_in > 0) return;
    size_t count = std::min(rest_.size(), kPiece);
    state_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(rest_.data()));
    state_.avail_in = uInt(count);
    rest_ = rest_.subspan(count);
  }

  static constexpr size_t kPiece = size_t(1) << 30;
  z_stream state_{};
  std::span<const std::byte> rest_;
  uint64_t length_;
  std::string_view file_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<ByteStream> open_byte_stream(std::span<const std::byte> bytes, std::string_view file) {
  bool gzip = bytes.size() >= 2 && bytes[0] == std::byte(0x1f) && bytes[1] == std::byte(0x8b);
  if (gzip) return std::make_unique<GzipStream>(bytes, file);
  return std::make_unique<PlainStream>(bytes, file);
}

}  // namespace treadle
