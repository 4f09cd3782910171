#include "treadle/simt/driver/source.h"

#include <fmt/core.h>

#include <algorithm>

namespace treadle::simt::driver {
namespace {

bool opens(std::string_view token) { return token == "(" || token == "[" || token == "{"; }
bool closes(std::string_view token) { return token == ")" || token == "]" || token == "}"; }

}  // namespace

Source::Source(std::string_view text) : text_(text), tokens_(tokens_of(text)) {}

size_t Source::closing(size_t i) const {
  for (int depth = 0; i < size(); ++i) {
    depth += opens((*this)[i]) - closes((*this)[i]);
    if (depth == 0) return i;
  }
  return kNone;
}

size_t Source::opening(size_t i) const {
  for (int depth = 0; i < size(); --i) {
    depth += closes((*this)[i]) - opens((*this)[i]);
    if (depth == 0) return i;
  }
  return kNone;
}

std::string Source::line_of(size_t first, size_t last) const {
  std::string line;
  for (size_t i = first; i < last; ++i) {
    if (is(i, TokenKind::directive)) continue;
    const bool apart = i > first && tokens_[i].begin > tokens_[i - 1].end;
    if (apart && !line.empty()) line += ' ';
    line += (*this)[i];
  }
  return line;
}

std::string Source::place(size_t i) const {
  const auto [file, line] = place_of(text_, i < size() ? tokens_[i].begin : text_.size());
  return fmt::format("{}:{}", file, line);
}

std::string Source::line_ends(size_t first, size_t last) const {
  std::string ends;
  for (size_t i = first; i < last; ++i) {
    if (is(i, TokenKind::directive)) ends += (*this)[i];
    const uint32_t end = i + 1 < last ? tokens_[i + 1].begin : tokens_[i].end;
    const std::string_view gap = text_.substr(tokens_[i].end, end - tokens_[i].end);
    ends.append(static_cast<size_t>(std::count(gap.begin(), gap.end(), '\n')), '\n');
  }
  return ends;
}

void Source::replace(size_t first, size_t last, std::string text) {
  changes_.push_back({tokens_[first].begin, tokens_[last - 1].end, std::move(text) + line_ends(first, last)});
}

void Source::blank(size_t first, size_t last) {
  if (last == first + 1 && is(first, TokenKind::directive))
    return changes_.push_back({tokens_[first].begin, tokens_[first].end, ""});
  const bool one_line = line_ends(first, last).empty();
  replace(first, last, std::string(one_line ? tokens_[last - 1].end - tokens_[first].begin : 1, ' '));
}

void Source::insert(size_t before, std::string text) {
  changes_.push_back({tokens_[before].begin, tokens_[before].begin, std::move(text)});
}

std::string Source::changed() const {
  std::vector<Change> order = changes_;
  std::stable_sort(order.begin(), order.end(), [](const Change& a, const Change& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::string result;
  size_t at = 0;
  for (const Change& change : order) {
    result.append(text_.substr(at, change.begin - at)).append(change.text);
    at = change.end;
  }
  return result.append(text_.substr(at));
}

}  // namespace treadle::simt::driver
