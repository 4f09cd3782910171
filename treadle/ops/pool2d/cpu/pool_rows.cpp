#include "treadle/ops/pool2d/cpu/pool_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/ops/pool2d/cpu/pool_rows.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Integers = hn::RebindToSigned<Floats>;

/// Elements at x, x + Step, x + 2·Step, …; reads Step·lanes elements.
template <int Step>
HWY_INLINE hn::Vec<Floats> load(const float* x) {
  const Floats d;
  if constexpr (Step == 1) {
    return hn::LoadU(d, x);
  } else {
    hn::Vec<Floats> even, odd;
    hn::LoadInterleaved2(d, x, even, odd);
    return even;
  }
}

/// Windows from 0 on, a vector at a time, while no element behind the last tap is read; returns how many were
/// done.
template <int Step>
int64_t max_of_taps_in_vectors(const RowTaps<const float*>& taps, int64_t windows, float* HWY_RESTRICT y,
                               int32_t* HWY_RESTRICT argmax) {
  const Floats d;
  const Integers di;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const auto offsets = hn::Mul(hn::Iota(di, 0), hn::Set(di, taps.position_step));
  int64_t i = 0;
  for (; i + lanes + (Step - 1) <= windows; i += lanes) {
    const auto step = hn::Add(offsets, hn::Set(di, int32_t(i) * taps.position_step));
    auto best = load<Step>(taps.first[0] + i * Step);
    auto position = hn::Set(di, taps.positions[0]);
    for (int64_t t = 1; t < taps.count; ++t) {
      const auto value = load<Step>(taps.first[t] + i * Step);
      // Neither value ≤ best, nor best a NaN already.
      const auto take = hn::AndNot(hn::Le(value, best), hn::Eq(best, best));
      best = hn::IfThenElse(take, value, best);
      position = hn::IfThenElse(hn::RebindMask(di, take), hn::Set(di, taps.positions[t]), position);
    }
    hn::StoreU(best, d, y + i);
    hn::StoreU(hn::Add(position, step), di, argmax + i);
  }
  return i;
}

void max_of_taps(const RowTaps<const float*>& taps, int64_t windows, float* HWY_RESTRICT y,
                 int32_t* HWY_RESTRICT argmax) {
  int64_t i = taps.step == 1   ? max_of_taps_in_vectors<1>(taps, windows, y, argmax)
              : taps.step == 2 ? max_of_taps_in_vectors<2>(taps, windows, y, argmax)
                               : 0;
  for (; i < windows; ++i) {
    float best = taps.first[0][i * taps.step];
    int32_t position = taps.positions[0];
    for (int64_t t = 1; t < taps.count; ++t) {
      const float value = taps.first[t][i * taps.step];
      if (value <= best || best != best) continue;
      best = value, position = taps.positions[t];
    }
    y[i] = best, argmax[i] = position + int32_t(i) * taps.position_step;
  }
}

void add_at_argmax(const RowTaps<float*>& taps, int64_t windows, const float* HWY_RESTRICT dy,
                   const int32_t* HWY_RESTRICT argmax) {
  const Floats d;
  const Integers di;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= windows; i += lanes) {
    const auto gradient = hn::LoadU(d, dy + i);
    const auto position = hn::LoadU(di, argmax + i);
    for (int64_t t = 0; t < taps.count; ++t) {
      const auto chosen = hn::RebindMask(d, hn::Eq(position, hn::Set(di, taps.positions[t])));
      float* dx = taps.first[t] + i;
      hn::StoreU(hn::Add(hn::LoadU(d, dx), hn::IfThenElseZero(chosen, gradient)), d, dx);
    }
  }
  for (; i < windows; ++i)
    for (int64_t t = 0; t < taps.count; ++t)
      if (argmax[i] == taps.positions[t]) taps.first[t][i] += dy[i];
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(max_of_taps);
HWY_EXPORT(add_at_argmax);

}  // namespace

void max_of_taps(const RowTaps<const float*>& taps, int64_t windows, float* y, int32_t* argmax) {
  HWY_DYNAMIC_DISPATCH(max_of_taps)(taps, windows, y, argmax);
}

void add_at_argmax(const RowTaps<float*>& taps, int64_t windows, const float* dy, const int32_t* argmax) {
  HWY_DYNAMIC_DISPATCH(add_at_argmax)(taps, windows, dy, argmax);
}

}  // namespace treadle::cpu
#endif
