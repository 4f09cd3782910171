#include "treadle/simt/driver/qualifiers.h"

#include <algorithm>
#include <map>

#include "treadle/core/error.h"

namespace treadle::simt::driver {
namespace {

/// Words that stand before a declaration's type, in any order.
bool is_specifier(std::string_view word) {
  constexpr std::string_view kWords[] = {
      "extern",     "static",    "inline",       "__inline__",      "__inline",     "const",
      "volatile",   "constexpr", "__shared__",   "__device__",      "__constant__", "__managed__",
      "__global__", "__host__",  "__noinline__", "__forceinline__", "typedef",      "thread_local"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

/// The first of the specifiers that directly precede token `i`; `i` itself where none does.
size_t first_specifier(const Source& source, size_t i) {
  while (i > 0 && is_specifier(source[i - 1])) --i;
  return i;
}

/// Whether one of `words` is among the declaration's words around token `i`, up to its first bracket or end.
bool declared_with(const Source& source, size_t i, std::initializer_list<std::string_view> words) {
  const auto found = [&](size_t k) {
    return std::find(words.begin(), words.end(), source[k]) != words.end();
  };
  const auto ends = [&](size_t k) {
    const std::string_view token = source[k];
    return token.empty() || token == ";" || token == "{" || token == "}" || token == "(" || token == ")" ||
           token == "," || token == "=" || source.is(k, TokenKind::directive);
  };
  for (size_t k = i + 1; !ends(k); ++k)
    if (found(k)) return true;
  for (size_t k = i - 1; k < source.size() && !ends(k); --k)
    if (found(k)) return true;
  return false;
}

void drop(Source& source, size_t i) { source.blank(i, i + 1); }

void drop_with_arguments(Source& source, size_t i) {
  const size_t end = source.is(i + 1, "(") ? source.closing(i + 1) : Source::kNone;
  source.blank(i, end == Source::kNone ? i + 1 : end + 1);
}

/// One copy for each thread that runs blocks. Outside of functions it belongs to its file, as in CUDA.
void make_shared(Source& source, size_t i) {
  const bool placed = declared_with(source, i, {"extern", "static"});
  source.replace(i, i + 1, placed ? "thread_local" : "static thread_local");
}

/// The standard library writes the word inside of attributes, where it is right.
void make_noinline(Source& source, size_t i) {
  const std::string_view before = source[i - 1];
  if (before == "(" || before == "," || before == "::") return;
  source.replace(i, i + 1, "__attribute__((noinline))");
}

void make_inline(Source& source, size_t i) {
  if (declared_with(source, i, {"inline", "__inline__", "__inline"}))
    drop(source, i);
  else
    source.replace(i, i + 1, "inline");
}

/// C++ wants it before the other specifiers, nvcc takes it among them.
void move_alignas(Source& source, size_t i) {
  const size_t first = first_specifier(source, i);
  const size_t end = source.is(i + 1, "(") ? source.closing(i + 1) : Source::kNone;
  if (first == i || end == Source::kNone) return;
  source.insert(first, source.line_of(i, end + 1) + " ");
  source.blank(i, end + 1);
}

[[noreturn]] void refuse_clusters(Source& source, size_t i) {
  throw SourceError(
      fmt::format("{}: thread block clusters ({}) are not supported", source.place(i), source[i]));
}

using Translation = void (*)(Source&, size_t);

const std::map<std::string_view, Translation>& translations() {
  static const std::map<std::string_view, Translation> map = {
      {"__global__", drop},
      {"__device__", drop},
      {"__host__", drop},
      {"__constant__", drop},
      {"__managed__", drop},
      {"__grid_constant__", drop},
      {"__launch_bounds__", drop_with_arguments},
      {"__maxnreg__", drop_with_arguments},
      {"__cluster_dims__", refuse_clusters},
      {"__shared__", make_shared},
      {"__noinline__", make_noinline},
      {"__forceinline__", make_inline},
      {"alignas", move_alignas},
  };
  return map;
}

}  // namespace

void translate_qualifier(Source& source, size_t i) {
  const std::string_view word = source[i];
  if (word[0] != '_' && word[0] != 'a') return;
  const auto found = translations().find(word);
  if (found != translations().end()) found->second(source, i);
}

}  // namespace treadle::simt::driver
