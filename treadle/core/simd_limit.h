/// The widest SIMD instructions that the cpu device may use.
#pragma once

#include <cstdint>

#include "treadle/core/export.h"

namespace treadle {

enum class SimdLimit : uint8_t { sse4, avx2, none };

/// From the environment variable TREADLE_SIMD, `sse4` or `avx2`, read once: so a machine tests what others
/// run. Libraries have limits of their own, such as ONEDNN_MAX_CPU_ISA. Throws ValueError for another value.
TREADLE_API SimdLimit simd_limit();

/// "avx2"; empty without a limit.
TREADLE_API const char* name_of(SimdLimit limit);

}  // namespace treadle
