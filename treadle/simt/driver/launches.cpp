#include "treadle/simt/driver/launches.h"

#include <algorithm>

#include "treadle/core/error.h"

namespace treadle::simt::driver {
namespace {

bool three(const Source& source, size_t i, std::string_view token) {
  return source.is(i, token) && source.is(i + 1, token) && source.is(i + 2, token);
}

bool is_keyword(std::string_view word) {
  constexpr std::string_view kWords[] = {"return", "else",  "do",        "case",
                                         "goto",   "throw", "co_return", "co_yield"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

/// The `<` of the template arguments that end with the `>` at `i`; kNone where none does.
size_t opening_angle(const Source& source, size_t i) {
  for (int depth = 0; i < source.size(); --i) {
    const std::string_view token = source[i];
    if (token == ")" || token == "]" || token == "}") {
      i = source.opening(i);
      if (i == Source::kNone) return i;
    } else if (token == ";" || token == "{") {
      return Source::kNone;
    } else if (token == ">") {
      ++depth;
    } else if (token == "<" && --depth == 0) {
      return i;
    }
  }
  return Source::kNone;
}

/// The `>` of the template arguments that begin with the `<` at `i`; kNone where it is a comparison.
size_t closing_angle(const Source& source, size_t i) {
  constexpr std::string_view kAllowed = "::,*&...+-/%";
  for (++i; i < source.size(); ++i) {
    const std::string_view token = source[i];
    if (token == ">") return i;
    if (token == "(" || token == "[" || token == "{")
      i = source.closing(i);
    else if (token == "<")
      i = closing_angle(source, i);
    else if (source.is(i, TokenKind::punctuation) && kAllowed.find(token) == std::string_view::npos)
      return Source::kNone;
    if (i == Source::kNone) return i;
  }
  return Source::kNone;
}

/// The first token of the expression that ends before `end`: a name with its namespaces and template
/// arguments, an element, a member, something in parentheses. kNone where there is none.
size_t callee_begin(const Source& source, size_t end) {
  size_t i = end - 1, begin = Source::kNone;
  while (i < source.size()) {
    const std::string_view token = source[i];
    if (token == ">") {
      i = opening_angle(source, i) - 1;
      if (!source.is(i, TokenKind::identifier)) return Source::kNone;
      continue;
    }
    if (token == ")" || token == "]") {
      begin = source.opening(i);
      if (begin == Source::kNone) return begin;
      i = begin - 1;
      const bool goes_on = source.is(i, TokenKind::identifier) ? !is_keyword(source[i])
                                                               : source.is(i, ")") || source.is(i, "]");
      if (!goes_on && token == ")") return begin;
      continue;
    }
    if (!source.is(i, TokenKind::identifier) || is_keyword(token)) return begin;
    begin = i;
    if (source.is(i - 1, "template")) --i;
    if (source.is(i - 1, "::")) {
      begin = --i;
      const bool qualified =
          source.is(i - 1, ">") || (source.is(i - 1, TokenKind::identifier) && !is_keyword(source[i - 1]));
      if (!qualified) return begin;
      --i;
    } else if (source.is(i - 1, ".") || source.is(i - 1, "->")) {
      i -= 2;
    } else {
      return begin;
    }
  }
  return begin;
}

/// The first of the three `>` that end the configuration from token `i` on. A `<` behind a name is taken for
/// template arguments where that is possible, unless `plain`.
size_t configuration_end(const Source& source, size_t i, bool plain) {
  for (; i < source.size(); ++i) {
    const std::string_view token = source[i];
    if (token == "(" || token == "[" || token == "{") {
      i = source.closing(i);
      if (i == Source::kNone) return i;
    } else if (token == ";" || token == ")" || token == "]" || token == "}") {
      return Source::kNone;
    } else if (!plain && token == "<" && source.is(i - 1, TokenKind::identifier)) {
      const size_t end = closing_angle(source, i);
      if (end != Source::kNone) i = end;
    } else if (three(source, i, ">") && source.is(i + 3, "(")) {
      return i;
    }
  }
  return Source::kNone;
}

std::string quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

bool begins_launch(const Source& source, size_t i) {
  return three(source, i, "<") && i > 0 && !source.is(i - 1, "operator");
}

void translate_launch(Source& source, size_t i, const std::string& target) {
  const size_t callee = callee_begin(source, i);
  require<SourceError>(callee != Source::kNone, "{}: no kernel stands before the <<< of this launch",
                       source.place(i));
  size_t end = configuration_end(source, i + 3, false);
  if (end == Source::kNone) end = configuration_end(source, i + 3, true);
  const std::string kernel = source.line_of(callee, i);
  require<SourceError>(end != Source::kNone, "{}: the launch of {} has no >>>(…)", source.place(i), kernel);
  const std::string executor = "::treadle::" + target + "::";
  source.replace(
      callee, i + 3,
      fmt::format(" {0}launch_syntax({1}, [&](auto... n_) -> decltype({0}kernel_of({2}, n_...)) {{ "
                  "return {0}kernel_of({2}, n_...); }}, [&](auto&&... a_) {{ {2}(a_...); }}, "
                  "{0}LaunchShape(",
                  executor, quoted(kernel), kernel));
  source.replace(end, end + 3, "))");
}

void translate_launch_call(Source& source, size_t i) {
  if (!source.is(i, "cudaLaunchKernel") && !source.is(i, "cudaLaunchCooperativeKernel")) return;
  // Behind template arguments of the call, if it has any.
  if (!source.is(i + 1, "(")) return;
  const size_t first = i + 2;
  const auto is_void_pointer = [&](size_t begin, size_t end) {
    std::string type = source.line_of(begin, end);
    std::erase(type, ' ');
    return type == "void*" || type == "constvoid*" || type == "voidconst*";
  };
  if (source.is(first, "(")) {
    const size_t close = source.closing(first);
    if (close != Source::kNone && is_void_pointer(first + 1, close)) source.blank(first, close + 1);
  } else if (source.is(first, "reinterpret_cast") && source.is(first + 1, "<")) {
    const size_t close = closing_angle(source, first + 1);
    if (close != Source::kNone && is_void_pointer(first + 2, close)) source.blank(first, close + 1);
  }
}

}  // namespace treadle::simt::driver
