/// The cpu variant of cast.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "treadle/core/half.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/strided_operands.h"
#include "treadle/simd/instruction_sets.h"

namespace treadle {
namespace {

template <class In, class Out>
TREADLE_ALWAYS_INLINE void cast_elements(const In* __restrict x, Out* __restrict y, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) y[i] = Out(HostCompute<In>(x[i]));
}

template <class In, class Out>
TREADLE_AVX2 void cast_elements_avx2(const In* x, Out* y, int64_t count) {
  cast_elements(x, y, count);
}

#if defined(__x86_64__)
/// f16 by the instructions that every processor with AVX2 has: the compiler makes none of them of Float16.
constexpr int64_t kLanes = 8;

__attribute__((target("avx2,f16c"))) void cast_elements_avx2(const float* x, Float16* y, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < count; ++i) y[i] = Float16(x[i]);
}

__attribute__((target("avx2,f16c"))) void cast_elements_avx2(const Float16* x, float* y, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
  for (; i < count; ++i) y[i] = float(x[i]);
}
#endif

/// What Autocast asks for.
template <class In, class Out>
inline constexpr bool kBetweenHalfAndSingle = (std::is_same_v<In, float> && sizeof(Out) == 2 &&
                                               !std::is_integral_v<Out>) ||
                                              (std::is_same_v<Out, float> && sizeof(In) == 2 &&
                                               !std::is_integral_v<In>);

template <class In, class Out>
void cast_row(const In* x, int64_t x_step, Out* y, int64_t y_step, int64_t count) {
  if constexpr (kBetweenHalfAndSingle<In, Out>)
    if (x_step == 1 && y_step == 1)
      return has_avx2() ? cast_elements_avx2(x, y, count) : cast_elements(x, y, count);
  for (int64_t i = 0; i < count; ++i) {
    const HostCompute<In> value = x[i * x_step];
    if constexpr (std::is_same_v<Out, bool>)
      y[i * y_step] = value != 0;
    else
      y[i * y_step] = Out(value);
  }
}

void run(const Call& call) {
  with_type(call.input(0).dtype, [&](auto from) {
    with_type(call.output().dtype, [&](auto to) {
      using In = typename decltype(from)::type;
      using Out = typename decltype(to)::type;
      auto nest = make_strided<2>(call.output(), call.inputs);
      const In* x = call.input(0).as<In>();
      Out* y = call.output().as<Out>();
      for_each_row(nest, Nanoseconds{0.25}, [&](const auto& o, const auto& s, int64_t count) {
        cast_row(x + o[1], s[1], y + o[0], s[0], count);
      });
    });
  });
}

}  // namespace

namespace ops {

void register_layout_cpu_cast(Registry& registry) {
  add_variant(registry, "cast", {.name = "loop", .device = DeviceKind::cpu, .run = run});
}

}  // namespace ops
}  // namespace treadle
