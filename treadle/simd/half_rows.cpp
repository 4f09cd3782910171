#include "treadle/simd/half_rows.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "treadle/core/half.h"
#include "treadle/simd/instruction_sets.h"

namespace treadle {
namespace {

template <class In, class Out>
TREADLE_ALWAYS_INLINE void convert(const In* __restrict x, Out* __restrict y, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) y[i] = Out(float(x[i]));
}

template <class In, class Out>
TREADLE_AVX2 void convert_avx2(const In* x, Out* y, int64_t count) {
  convert(x, y, count);
}

#if defined(__x86_64__)
/// f16 by the instructions that every processor with AVX2 has: the compiler makes none of them of Float16.
constexpr int64_t kLanes = 8;

__attribute__((target("avx2,f16c"))) void convert_avx2(const float* x, Float16* y, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < count; ++i) y[i] = Float16(x[i]);
}

__attribute__((target("avx2,f16c"))) void convert_avx2(const Float16* x, float* y, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
  for (; i < count; ++i) y[i] = float(x[i]);
}
#endif

template <class In, class Out>
void convert_row(const In* x, int64_t x_step, Out* y, int64_t y_step, int64_t count) {
  if (x_step == 1 && y_step == 1) return has_avx2() ? convert_avx2(x, y, count) : convert(x, y, count);
  for (int64_t i = 0; i < count; ++i) y[i * y_step] = Out(float(x[i * x_step]));
}

}  // namespace

void halves_to_floats(DType half, const void* x, int64_t step, float* y, int64_t count) {
  if (half == DType::f16)
    convert_row(static_cast<const Float16*>(x), step, y, 1, count);
  else
    convert_row(static_cast<const BFloat16*>(x), step, y, 1, count);
}

void floats_to_halves(DType half, const float* x, void* y, int64_t step, int64_t count) {
  if (half == DType::f16)
    convert_row(x, 1, static_cast<Float16*>(y), step, count);
  else
    convert_row(x, 1, static_cast<BFloat16*>(y), step, count);
}

}  // namespace treadle
