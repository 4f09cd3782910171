/// Characters of texts in UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace treadle {

/// What some editors put before a text.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// The code points of a text. `what` names it in messages. Throws FormatError where it is not UTF-8 (RFC
/// 3629: overlong forms, surrogates and numbers above U+10FFFF are none), naming the byte.
std::u32string code_points(std::string_view text, const std::string& what);

/// The bytes of a code point.
std::string utf8_of(char32_t character);

}  // namespace treadle
