#include "treadle/simt/driver/translate.h"

#include "treadle/core/error.h"
#include "treadle/simt/driver/device_code.h"
#include "treadle/simt/driver/launches.h"
#include "treadle/simt/driver/qualifiers.h"
#include "treadle/simt/driver/source.h"

namespace treadle::simt::driver {
namespace {

/// `#pragma unroll`, which the host compiler does not know; it unrolls as it sees fit.
bool is_unroll(std::string_view directive) {
  const auto skip = [&](std::string_view word) {
    directive.remove_prefix(std::min(directive.find_first_not_of(" \t#"), directive.size()));
    const bool found = directive.starts_with(word);
    if (found) directive.remove_prefix(word.size());
    return found;
  };
  return skip("pragma") && (skip("unroll") || skip("nounroll"));
}

bool is_asm(std::string_view word) { return word == "asm" || word == "__asm__" || word == "__asm"; }

/// Inline assembly of device code is PTX; only an empty one, a fence of the compiler, means anything here.
void refuse_ptx(const Source& source, size_t i) {
  size_t k = i + 1;
  while (source.is(k, TokenKind::identifier)) ++k;
  std::string code;
  for (++k; source.is(k, TokenKind::string); ++k) code += source[k].substr(1, source[k].size() - 2);
  require<SourceError>(code.find_first_not_of(" \t") == std::string::npos,
                       "{}: inline PTX is not supported: {} (\"{}\")", source.place(i), source[i], code);
}

}  // namespace

std::string translate(std::string_view text, const std::string& target) {
  Source source(text);
  DeviceCode device_code;
  for (size_t i = 0; i < source.size(); ++i) {
    device_code.see(source, i);
    if (source.is(i, TokenKind::identifier)) {
      if (device_code.inside() && is_asm(source[i])) refuse_ptx(source, i);
      translate_qualifier(source, i);
      translate_launch_call(source, i);
    } else if (source.is(i, TokenKind::directive)) {
      if (is_unroll(source[i])) source.blank(i, i + 1);
    } else if (source.is(i, "<") && begins_launch(source, i)) {
      require<SourceError>(!device_code.inside_device_only(),
                           "{}: a launch from device code (dynamic parallelism) is not supported",
                           source.place(i));
      translate_launch(source, i, target);
      i += 2;
    }
  }
  return source.changed();
}

}  // namespace treadle::simt::driver
