#include "treadle/simd/pixel_values.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/simd/pixel_values.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {

// The compiler makes vectors of these loops, as wide as the target's.

/// byte / 255 without the division, which takes several times as long: 1/255 is 257/2^16 and a rest. The
/// first product is exact, the second so small that the sum is rounded as the quotient is, for each of the
/// 256 bytes, also where a product and the sum become one operation.
HWY_INLINE float value_of(uint8_t byte) { return float(byte) * 0x1.01p-8f + float(byte) * 0x1.010102p-24f; }

void scale(const uint8_t* HWY_RESTRICT in, float* HWY_RESTRICT out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = value_of(in[i]);
}

void scale_and_normalize(const uint8_t* HWY_RESTRICT in, float* HWY_RESTRICT out, int64_t count, float mean,
                         float deviation) {
  for (int64_t i = 0; i < count; ++i) out[i] = (value_of(in[i]) - mean) / deviation;
}

void normalize(const float* HWY_RESTRICT in, float* HWY_RESTRICT out, int64_t count, float mean,
               float deviation) {
  for (int64_t i = 0; i < count; ++i) out[i] = (in[i] - mean) / deviation;
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(scale);
HWY_EXPORT(scale_and_normalize);
HWY_EXPORT(normalize);

}  // namespace

void pixel_values(const uint8_t* in, float* out, int64_t count) {
  HWY_DYNAMIC_DISPATCH(scale)(in, out, count);
}

void normalized_pixels(const uint8_t* in, float* out, int64_t count, float mean, float deviation) {
  HWY_DYNAMIC_DISPATCH(scale_and_normalize)(in, out, count, mean, deviation);
}

void normalized_values(const float* in, float* out, int64_t count, float mean, float deviation) {
  HWY_DYNAMIC_DISPATCH(normalize)(in, out, count, mean, deviation);
}

}  // namespace treadle::cpu
#endif
