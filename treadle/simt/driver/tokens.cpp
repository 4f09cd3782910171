#include "treadle/simt/driver/tokens.h"

#include <algorithm>
#include <cctype>

namespace treadle::simt::driver {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// Letters of other alphabets are bytes from 0x80 on.
bool begins_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (c & 0x80) != 0;
}
bool in_identifier(char c) { return begins_identifier(c) || is_digit(c); }

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) { tokens_.reserve(text.size() / 5); }

  std::vector<Token> run() {
    bool line_begins = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_space(c)) {
        line_begins |= c == '\n';
        ++at_;
        continue;
      }
      const size_t begin = at_;
      const TokenKind kind = c == '#' && line_begins ? take_directive() : take_token();
      line_begins = false;
      tokens_.push_back({kind, static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)});
    }
    return std::move(tokens_);
  }

 private:
  char ahead(size_t distance) const { return at_ + distance < text_.size() ? text_[at_ + distance] : '\0'; }

  TokenKind take_directive() {
    at_ = std::min(text_.find('\n', at_), text_.size());
    return TokenKind::directive;
  }

  TokenKind take_token() {
    const char c = text_[at_];
    if (is_digit(c) || (c == '.' && is_digit(ahead(1)))) return take_number();
    if (begins_identifier(c)) return take_word();
    if (c == '"') return take_quoted('"', TokenKind::string);
    if (c == '\'') return take_quoted('\'', TokenKind::character);
    const bool pair = (c == ':' && ahead(1) == ':') || (c == '-' && ahead(1) == '>');
    const bool dots = c == '.' && ahead(1) == '.' && ahead(2) == '.';
    at_ += dots ? 3 : pair ? 2 : 1;
    return TokenKind::punctuation;
  }

  /// With signs of exponents, separators of digits and suffixes.
  TokenKind take_number() {
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_], before = text_[at_ - 1];
      const bool sign =
          (c == '+' || c == '-') && std::string_view("eEpP").find(before) != std::string_view::npos;
      const bool separator = c == '\'' && in_identifier(ahead(1));
      if (!in_identifier(c) && c != '.' && !sign && !separator) break;
    }
    return TokenKind::number;
  }

  /// An identifier, or a literal with a prefix.
  TokenKind take_word() {
    const size_t begin = at_;
    while (at_ < text_.size() && in_identifier(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const bool plain = word == "u8" || word == "u" || word == "U" || word == "L";
    const bool raw = word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR";
    if (raw && ahead(0) == '"') return take_raw_string();
    if (plain && ahead(0) == '"') return take_quoted('"', TokenKind::string);
    if (plain && ahead(0) == '\'') return take_quoted('\'', TokenKind::character);
    return TokenKind::identifier;
  }

  /// Up to the closing quote, or the end of the line where there is none.
  TokenKind take_quoted(char quote, TokenKind kind) {
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size())
        ++at_;
      else if (text_[at_] == quote) {
        ++at_;
        break;
      }
    }
    return kind;
  }

  /// R"mark( … )mark"
  TokenKind take_raw_string() {
    const size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return take_quoted('"', TokenKind::string);
    std::string end = ")";
    end.append(text_.substr(at_ + 1, open - at_ - 1)).append("\"");
    const size_t close = text_.find(end, open);
    at_ = close == std::string_view::npos ? text_.size() : close + end.size();
    return TokenKind::string;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<Token> tokens_;
};

/// `# 12 "file" flags` into the place of the next line; false for other lines.
bool read_marker(std::string_view line, SourcePlace& place) {
  size_t at = 1;
  while (at < line.size() && line[at] == ' ') ++at;
  unsigned number = 0;
  const size_t digits = at;
  for (; at < line.size() && is_digit(line[at]); ++at)
    number = number * 10 + static_cast<unsigned>(line[at] - '0');
  if (at == digits || line.substr(at, 2) != " \"") return false;
  std::string file;
  for (at += 2; at < line.size() && line[at] != '"'; ++at) {
    if (line[at] == '\\' && at + 1 < line.size()) ++at;
    file += line[at];
  }
  place = {std::move(file), number};
  return true;
}

}  // namespace

std::vector<Token> tokens_of(std::string_view text) { return Tokenizer(text).run(); }

SourcePlace place_of(std::string_view text, size_t offset) {
  SourcePlace place{"", 1};
  for (size_t line = 0; line < text.size();) {
    const size_t end = std::min(text.find('\n', line), text.size());
    if (offset <= end) break;
    if (text[line] != '#' || !read_marker(text.substr(line, end - line), place)) ++place.line;
    line = end + 1;
  }
  return place;
}

}  // namespace treadle::simt::driver
