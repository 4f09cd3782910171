#include "treadle/formats/utf8.h"

#include "treadle/core/error.h"

namespace treadle {
namespace {

/// How a sequence begins, by its number of bytes: the bits of the first byte that say so and those that
/// count, and the least code point, as a smaller one has a shorter form.
struct Form {
  uint8_t mask, mark;
  char32_t least;
};
constexpr Form kForms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};

constexpr char32_t kLast = 0x10ffff;

bool is_surrogate(char32_t c) { return c >= 0xd800 && c <= 0xdfff; }

/// The code point at a place, and its bytes; 0 bytes where there is none.
struct Decoded {
  char32_t character;
  size_t bytes;
};

Decoded decode(std::string_view text, size_t at) {
  const auto first = uint8_t(text[at]);
  for (size_t bytes = 1; bytes <= 4; ++bytes) {
    const Form& form = kForms[bytes - 1];
    if ((first & form.mask) != form.mark) continue;
    if (text.size() - at < bytes) return {0, 0};
    char32_t character = first & uint8_t(~form.mask);
    for (size_t i = 1; i < bytes; ++i) {
      const auto next = uint8_t(text[at + i]);
      if ((next & 0xc0) != 0x80) return {0, 0};
      character = character << 6 | (next & 0x3f);
    }
    const bool valid = character >= form.least && character <= kLast && !is_surrogate(character);
    return valid ? Decoded{character, bytes} : Decoded{0, 0};
  }
  return {0, 0};
}

}  // namespace

std::u32string code_points(std::string_view text, const std::string& what) {
  std::u32string characters;
  characters.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const auto [character, bytes] = decode(text, at);
    require<FormatError>(bytes > 0,
                         "{} is not UTF-8: byte {} is 0x{:02x}, which begins no character. Convert it first, "
                         "as with iconv -t UTF-8",
                         what, at, uint8_t(text[at]));
    characters.push_back(character);
    at += bytes;
  }
  return characters;
}

std::string utf8_of(char32_t c) {
  if (c < 0x80) return {char(c)};
  const auto tail = [c](int shift) { return char(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x800) return {char(0xc0 | c >> 6), tail(0)};
  if (c < 0x10000) return {char(0xe0 | c >> 12), tail(6), tail(0)};
  return {char(0xf0 | c >> 18), tail(12), tail(6), tail(0)};
}

}  // namespace treadle
