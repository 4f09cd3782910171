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

/// The members of a gzip file (RFC 1952) one after another, each checked against its checksum when its end is
/// reached. As in Python's gzip, zeros may stand behind a member, and anything else that is no member is an
/// error.
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

  /// Goes to the next member; the stream has ended when there is none.
  void begin_next_member() {
    for (refill(); state_.avail_in > 0 && *state_.next_in == 0; refill()) ++state_.next_in, --state_.avail_in;
    const size_t left = state_.avail_in + rest_.size();
    ended_ = left == 0;
    if (ended_) return;
    require<FormatError>(next_is_magic(), "{}: {} bytes follow the gzip stream; they are no gzip member",
                         file_, left);
    inflateReset(&state_);
  }

  /// A single byte of the two may be all that is left: inflate() then says that the stream is cut short.
  bool next_is_magic() const {
    if (*state_.next_in != 0x1f) return false;
    if (state_.avail_in > 1) return state_.next_in[1] == 0x8b;
    return rest_.empty() || rest_[0] == std::byte(0x8b);
  }

  size_t unpack_piece(std::span<uint8_t> target) {
    refill();
    state_.next_out = target.data();
    state_.avail_out = uInt(std::min(target.size(), kPiece));
    uInt before = state_.avail_out;
    int code = inflate(&state_, Z_NO_FLUSH);
    uInt count = before - state_.avail_out;
    bool cut = code == Z_BUF_ERROR || (code == Z_OK && count == 0 && state_.avail_in == 0 && rest_.empty());
    require<FormatError>(!cut, "{}: the gzip stream is cut short", file_);
    require<FormatError>(code == Z_OK || code == Z_STREAM_END, "{}: the gzip stream is damaged ({})", file_,
                         state_.msg ? state_.msg : "zlib gives no reason");
    if (code == Z_STREAM_END) begin_next_member();
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
