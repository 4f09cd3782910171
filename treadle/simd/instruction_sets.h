/// Loops compiled several times: for any x86-64, and with AVX2 or AVX-512, taken where the processor has
/// them.
#pragma once

#include "treadle/core/simd_limit.h"

#if defined(__x86_64__)
/// Marks the second copy: a function that only calls an always-inlined one. No fused products, so that both
/// give the same bits.
#define TREADLE_AVX2 __attribute__((target("avx2")))
/// The third. AVX-512 has fused products: files that are to give the same bits are compiled with
/// -ffp-contract=off.
#if defined(__clang__)
#define TREADLE_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#else
#define TREADLE_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
#endif
#else
#define TREADLE_AVX2
#define TREADLE_AVX512
#endif

/// Marks the loop itself; its own functions must be inlined too, and lambdas are not.
#define TREADLE_ALWAYS_INLINE [[gnu::always_inline]] inline
/// Marks a copy whose loop calls functions that may not be marked: all are inlined, in all depths.
#define TREADLE_FLATTEN [[gnu::flatten]]

namespace treadle {

inline bool has_avx2() {
#if defined(__x86_64__)
  static const bool found = __builtin_cpu_supports("avx2") && simd_limit() >= SimdLimit::avx2;
  return found;
#else
  return false;
#endif
}

inline bool has_avx512() {
#if defined(__x86_64__)
  static const bool found = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                            simd_limit() > SimdLimit::avx2;
  return found;
#else
  return false;
#endif
}

namespace detail {
template <class Loop>
TREADLE_FLATTEN TREADLE_AVX2 void run_avx2(const Loop& loop) {
  loop();
}
template <class Loop>
TREADLE_FLATTEN TREADLE_AVX512 void run_avx512(const Loop& loop) {
  loop();
}
}  // namespace detail

/// Calls loop(), compiled for the widest vectors that the processor has. Sanitizers see the one source once:
/// what they add to a loop keeps it from being vectorised, and three copies of that take long to compile.
template <class Loop>
void in_widest_vectors(const Loop& loop) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  if (has_avx512()) return detail::run_avx512(loop);
  if (has_avx2()) return detail::run_avx2(loop);
#endif
  loop();
}

}  // namespace treadle
