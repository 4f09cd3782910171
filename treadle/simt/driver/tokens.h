/// Tokens of C++ as it comes out of the preprocessor: no comments and no macros, but line markers and
/// pragmas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace treadle::simt::driver {

enum class TokenKind : uint8_t { identifier, number, string, character, punctuation, directive };

/// Bytes [begin, end) of the text. Punctuation is one character each, but for `::`, `->` and `...`, so that a
/// `>` always closes one `<`. A directive is a whole line that begins with `#`, without its end.
struct Token {
  TokenKind kind;
  uint32_t begin, end;
};

/// The tokens of a text of less than 4 GiB, in order. Text that is no C++ gives tokens, too: the compiler is
/// the one to complain.
std::vector<Token> tokens_of(std::string_view text);

/// Where a byte of preprocessed text comes from.
struct SourcePlace {
  std::string file;
  unsigned line = 0;
};

/// What the line markers before `offset` say of it.
SourcePlace place_of(std::string_view text, size_t offset);

}  // namespace treadle::simt::driver
