#include "treadle/formats/image_orientation.h"

#include <algorithm>
#include <cstring>

namespace treadle {
namespace {

/// A TIFF structure in memory: numbers in its byte order, nothing beyond its end.
class Tiff {
 public:
  explicit Tiff(std::string_view bytes) : bytes_(bytes), big_endian_(bytes.starts_with("MM")) {}

  /// "II" or "MM" and the number 42; writers that swap it are believed, as Pillow does.
  bool is_valid() const {
    if (bytes_.size() < 8 || !(big_endian_ || bytes_.starts_with("II"))) return false;
    std::string_view version = bytes_.substr(2, 2);
    return version == std::string_view("\0*", 2) || version == std::string_view("*\0", 2);
  }

  std::optional<uint32_t> number(uint64_t offset, int size) const {
    if (offset + uint64_t(size) > bytes_.size()) return std::nullopt;
    uint32_t value = 0;
    for (int i = 0; i < size; ++i) {
      int at = big_endian_ ? i : size - 1 - i;
      value = value << 8 | uint8_t(bytes_[size_t(offset) + size_t(at)]);
    }
    return value;
  }

 private:
  std::string_view bytes_;
  bool big_endian_;
};

constexpr uint32_t kOrientation = 0x0112, kShort = 3, kLong = 4;
constexpr uint64_t kEntryBytes = 12;

/// The first value of an entry, if it is a whole number. More than four bytes of values lie elsewhere.
std::optional<int> value_of(const Tiff& tiff, uint64_t entry) {
  auto type = tiff.number(entry + 2, 2), count = tiff.number(entry + 4, 4);
  if (!type || !count || (type != kShort && type != kLong) || *count == 0) return std::nullopt;
  const int size = type == kShort ? 2 : 4;
  uint64_t place = entry + 8;
  if (uint64_t(size) * *count > 4) {
    auto offset = tiff.number(place, 4);
    if (!offset || !tiff.number(*offset + uint64_t(size) * (*count - 1), size)) return std::nullopt;
    place = *offset;
  }
  auto value = tiff.number(place, size);
  return value && *value <= 8 ? std::optional<int>(int(*value)) : std::optional<int>(0);
}

}  // namespace

/// Of an entry that stands twice the last one counts.
std::optional<int> exif_orientation(std::string_view exif) {
  constexpr std::string_view kPrefix("Exif\0\0", 6);
  for (int i = 0; i < 2 && exif.starts_with(kPrefix); ++i) exif.remove_prefix(kPrefix.size());
  const Tiff tiff(exif);
  if (!tiff.is_valid()) return std::nullopt;
  const uint64_t directory = *tiff.number(4, 4);
  const uint32_t count = tiff.number(directory, 2).value_or(0);
  std::optional<int> orientation;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t entry = directory + 2 + i * kEntryBytes;
    if (!tiff.number(entry + 8, 4)) break;  // cut short
    if (tiff.number(entry, 2) != kOrientation) continue;
    if (auto value = value_of(tiff, entry)) orientation = value;
  }
  return orientation;
}

std::optional<int> xmp_orientation(std::string_view xmp) {
  constexpr std::string_view kName = "tiff:Orientation";
  for (size_t at = xmp.find(kName); at != std::string_view::npos; at = xmp.find(kName, at + 1)) {
    std::string_view rest = xmp.substr(at + kName.size());
    const size_t begin = rest.starts_with("=\"") ? 2 : rest.starts_with('>') ? 1 : 0;
    if (begin > 0 && rest.size() > begin && rest[begin] >= '0' && rest[begin] <= '9')
      return rest[begin] - '0';
  }
  return std::nullopt;
}

std::string bytes_of_raw_profile(std::string_view text) {
  for (int line = 0; line < 3; ++line) {
    size_t end = text.find('\n');
    if (end == std::string_view::npos) return "";
    text.remove_prefix(end + 1);
  }
  std::string bytes;
  int digits = 0, value = 0;
  for (char c : text) {
    if (c == '\n' || c == ' ' || c == '\r') continue;
    const char* all = "0123456789abcdef";
    const char* digit = c ? std::strchr(all, c | 0x20) : nullptr;
    if (!digit) return "";
    value = value * 16 + int(digit - all);
    if (++digits % 2 == 0) bytes += char(value), value = 0;
  }
  return bytes;
}

Image turned_upright(Image image, const OrientationSources& sources) {
  auto told = exif_orientation(sources.exif);
  if (!told) told = xmp_orientation(sources.xmp);
  const int orientation = told.value_or(1);
  if (orientation < 2 || orientation > 8) return image;
  const bool exchanged = orientation >= 5;
  const bool mirrored = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool upside_down = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Image upright{exchanged ? image.height : image.width, exchanged ? image.width : image.height,
                image.channels, std::vector<uint8_t>(image.pixels.size())};
  uint8_t* to = upright.pixels.data();
  for (int y = 0; y < upright.height; ++y)
    for (int x = 0; x < upright.width; ++x) {
      int column = exchanged ? y : x, row = exchanged ? x : y;
      if (mirrored) column = image.width - 1 - column;
      if (upside_down) row = image.height - 1 - row;
      size_t from = (size_t(row) * size_t(image.width) + size_t(column)) * size_t(image.channels);
      to = std::copy_n(image.pixels.data() + from, image.channels, to);
    }
  return upright;
}

}  // namespace treadle
