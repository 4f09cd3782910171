/// Loops compiled twice: for any x86-64, and with AVX2, taken where the processor has it. No fused products,
/// so that both give the same bits.
#pragma once

#include "treadle/core/simd_limit.h"

#if defined(__x86_64__)
/// Marks the second copy: a function that only calls an always-inlined one.
#define TREADLE_AVX2 __attribute__((target("avx2")))
#else
#define TREADLE_AVX2
#endif

/// Marks the loop itself; its own functions must be inlined too, and lambdas are not.
#define TREADLE_ALWAYS_INLINE [[gnu::always_inline]] inline

namespace treadle {

inline bool has_avx2() {
#if defined(__x86_64__)
  static const bool found = __builtin_cpu_supports("avx2") && simd_limit() >= SimdLimit::avx2;
  return found;
#else
  return false;
#endif
}

}  // namespace treadle
