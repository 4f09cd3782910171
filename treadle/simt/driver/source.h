/// A text with its tokens, and the changes that a translation makes to it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "treadle/core/error.h"
#include "treadle/simt/driver/tokens.h"

namespace treadle::simt::driver {

/// A program that says what is not supported, or what no compiler would take. The message begins with
/// FILE:LINE:.
struct SourceError : Error {
  using Error::Error;
};

/// Tokens are named by their number. Any number may be asked for: where there is no token, its text is empty.
class Source {
 public:
  static constexpr size_t kNone = size_t(-1);

  /// The text must stay.
  explicit Source(std::string_view text);

  size_t size() const { return tokens_.size(); }
  const Token& token(size_t i) const { return tokens_[i]; }
  std::string_view operator[](size_t i) const {
    return i < tokens_.size() ? text_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin)
                              : std::string_view();
  }
  bool is(size_t i, std::string_view text) const { return (*this)[i] == text; }
  bool is(size_t i, TokenKind kind) const { return i < tokens_.size() && tokens_[i].kind == kind; }

  /// The token that closes the bracket ( [ or { at `i`, or opens the one that is closed there; kNone where
  /// none does.
  size_t closing(size_t i) const;
  size_t opening(size_t i) const;

  /// The text of tokens [first, last) in one line.
  std::string line_of(size_t first, size_t last) const;
  /// "file:12", where the token lies.
  std::string place(size_t i) const;

  /// Replaces tokens [first, last) by a text; line ends and line markers between them stay, behind it. No
  /// token may be replaced twice.
  void replace(size_t first, size_t last, std::string text);
  /// Replaces them by spaces: what follows stays in its column.
  void blank(size_t first, size_t last);
  /// Puts a text before a token.
  void insert(size_t before, std::string text);

  /// The text with all changes.
  std::string changed() const;

 private:
  struct Change {
    uint32_t begin, end;
    std::string text;
  };
  std::string line_ends(size_t first, size_t last) const;

  std::string_view text_;
  std::vector<Token> tokens_;
  std::vector<Change> changes_;
};

}  // namespace treadle::simt::driver
