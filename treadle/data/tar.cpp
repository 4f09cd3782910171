#include "treadle/data/tar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "treadle/core/error.h"
#include "treadle/data/byte_stream.h"
#include "treadle/data/large_vector.h"

namespace treadle {
namespace {

constexpr size_t kBlock = 512;
constexpr uint64_t kMostBytes = uint64_t(1) << 30;  ///< of a file that is taken
using Header = std::array<uint8_t, kBlock>;

std::string_view text_at(const Header& header, size_t place, size_t size) {
  const std::string_view field(reinterpret_cast<const char*>(header.data()) + place, size);
  return field.substr(0, field.find('\0'));
}

/// An octal number, around which spaces may stand.
uint64_t number_at(const Header& header, size_t place, size_t size, std::string_view file) {
  std::string_view text = text_at(header, place, size);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text = text.substr(0, text.find(' '));
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 8);
  require<FormatError>(error == std::errc() && end == text.data() + text.size(),
                       "{}: the archive is damaged: '{}' is no octal number", file, text);
  return number;
}

void check_sum(const Header& header, std::string_view file) {
  constexpr size_t kPlace = 148, kSize = 8;
  uint64_t sum = kSize * ' ';
  for (size_t i = 0; i < kBlock; ++i)
    if (i < kPlace || i >= kPlace + kSize) sum += header[i];
  const uint64_t told = number_at(header, kPlace, kSize, file);
  require<FormatError>(sum == told,
                       "{}: the archive is damaged: a header's checksum is {}, its bytes give {}", file, told,
                       sum);
}

/// Reads what is not wanted, and what fills up a block, piece by piece.
void pass_over(ByteStream& stream, uint64_t count) {
  std::vector<uint8_t> piece(size_t(std::min<uint64_t>(count, 1 << 16)));
  for (; count > 0; count -= std::min<uint64_t>(count, piece.size()))
    stream.read(std::span(piece).first(size_t(std::min<uint64_t>(count, piece.size()))));
}

uint64_t filling(uint64_t size) { return (kBlock - size % kBlock) % kBlock; }

}  // namespace

void read_tar(std::span<const std::byte> archive, std::string_view file,
              const std::vector<std::string>& wanted,
              const std::function<void(const std::string&, std::span<const std::byte>)>& take) {
  const auto stream = open_byte_stream(archive, file);
  for (Header header; stream->read(header), header[0] != 0;) {
    check_sum(header, file);
    const std::string_view path = text_at(header, 0, 100);
    const std::string name(path.substr(path.rfind('/') + 1));
    const uint64_t size = number_at(header, 124, 12, file);
    const bool is_file = header[156] == '0' || header[156] == '\0';
    if (!is_file || std::find(wanted.begin(), wanted.end(), name) == wanted.end()) {
      require<FormatError>(size <= stream->most_bytes(), "{}: {} claims {} bytes, which cannot be there",
                           file, name, size);
      pass_over(*stream, size + filling(size));
      continue;
    }
    require<FormatError>(size <= std::min(stream->most_bytes(), kMostBytes),
                         "{}: {} claims {} bytes, which cannot be there or are more than {}", file, name,
                         size, kMostBytes);
    auto contents = large_vector<uint8_t>(size);
    stream->read(contents);
    pass_over(*stream, filling(size));
    take(name, std::as_bytes(std::span(contents)));
  }
}

}  // namespace treadle
