#include "treadle/core/simd_limit.h"

#include <cstdlib>
#include <string>

#include "treadle/core/error.h"

namespace treadle {
namespace {

SimdLimit limit_from_environment() {
  const char* value = std::getenv("TREADLE_SIMD");
  const std::string text = value ? value : "";
  for (SimdLimit limit : {SimdLimit::sse4, SimdLimit::avx2, SimdLimit::none})
    if (text == name_of(limit)) return limit;
  throw ValueError(fmt::format("TREADLE_SIMD is '{}'; it can be sse4, avx2 or unset", text));
}

}  // namespace

SimdLimit simd_limit() {
  static const SimdLimit limit = limit_from_environment();
  return limit;
}

const char* name_of(SimdLimit limit) {
  return limit == SimdLimit::sse4 ? "sse4" : limit == SimdLimit::avx2 ? "avx2" : "";
}

}  // namespace treadle
