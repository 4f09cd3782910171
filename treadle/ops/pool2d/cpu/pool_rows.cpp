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

/// Takes a value and where it lies in place of the best, unless value ≤ best, or best is a NaN already.
HWY_INLINE void take_larger(hn::Vec<Floats> value, int32_t at, hn::Vec<Floats>& best,
                            hn::Vec<Integers>& position) {
  const Integers di;
  const auto take = hn::AndNot(hn::Le(value, best), hn::Eq(best, best));
  best = hn::IfThenElse(take, value, best);
  position = hn::IfThenElse(hn::RebindMask(di, take), hn::Set(di, at), position);
}

/// How far the taps lie behind those that are named.
struct Shift {
  int64_t elements;
  int32_t positions;
};

/// Windows from 0 on, a vector at a time, while no element behind the last tap is read; returns how many were
/// done.
template <int Step>
int64_t max_of_taps_in_vectors(const RowTaps<const float*>& taps, const Shift& shift, int64_t windows,
                               float* HWY_RESTRICT y, int32_t* HWY_RESTRICT argmax) {
  const Floats d;
  const Integers di;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const auto offsets = hn::Mul(hn::Iota(di, 0), hn::Set(di, taps.position_step));
  int64_t i = 0;
  for (; i + lanes + (Step - 1) <= windows; i += lanes) {
    const auto step = hn::Add(offsets, hn::Set(di, shift.positions + int32_t(i) * taps.position_step));
    auto best = load<Step>(taps.first[0] + shift.elements + i * Step);
    auto position = hn::Set(di, taps.positions[0]);
    for (int64_t t = 1; t < taps.count; ++t)
      take_larger(load<Step>(taps.first[t] + shift.elements + i * Step), taps.positions[t], best, position);
    hn::StoreU(best, d, y + i);
    hn::StoreU(hn::Add(position, step), di, argmax + i);
  }
  return i;
}

HWY_INLINE void max_of_shifted_taps(const RowTaps<const float*>& taps, const Shift& shift, int64_t windows,
                                    float* HWY_RESTRICT y, int32_t* HWY_RESTRICT argmax) {
  int64_t i = taps.step == 1   ? max_of_taps_in_vectors<1>(taps, shift, windows, y, argmax)
              : taps.step == 2 ? max_of_taps_in_vectors<2>(taps, shift, windows, y, argmax)
                               : 0;
  for (; i < windows; ++i) {
    const int64_t offset = shift.elements + i * taps.step;
    float best = taps.first[0][offset];
    int32_t position = taps.positions[0];
    for (int64_t t = 1; t < taps.count; ++t) {
      const float value = taps.first[t][offset];
      if (value <= best || best != best) continue;
      best = value, position = taps.positions[t];
    }
    y[i] = best, argmax[i] = position + shift.positions + int32_t(i) * taps.position_step;
  }
}

void max_of_taps(const RowTaps<const float*>& taps, int64_t windows, float* y, int32_t* argmax) {
  max_of_shifted_taps(taps, {0, 0}, windows, y, argmax);
}

void max_of_channels(const RowTaps<const float*>& taps, int64_t windows, int64_t channels, float* y,
                     int32_t* argmax) {
  const RowTaps<const float*> of_a_window{taps.count, taps.first, taps.positions, 1, 0};
  for (int64_t i = 0; i < windows; ++i)
    max_of_shifted_taps(of_a_window, {i * taps.step, int32_t(i) * taps.position_step}, channels,
                        y + i * channels, argmax + i * channels);
}

void add_at_argmax_of_window(const RowTaps<float*>& taps, const Shift& shift, int64_t channels,
                             const float* HWY_RESTRICT dy, const int32_t* HWY_RESTRICT argmax) {
  const Floats d;
  const Integers di;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    const auto gradient = hn::LoadU(d, dy + c);
    const auto position = hn::LoadU(di, argmax + c);
    for (int64_t t = 0; t < taps.count; ++t) {
      const auto chosen =
          hn::RebindMask(d, hn::Eq(position, hn::Set(di, taps.positions[t] + shift.positions)));
      float* dx = taps.first[t] + shift.elements + c;
      hn::StoreU(hn::Add(hn::LoadU(d, dx), hn::IfThenElseZero(chosen, gradient)), d, dx);
    }
  }
  for (; c < channels; ++c)
    for (int64_t t = 0; t < taps.count; ++t)
      if (argmax[c] == taps.positions[t] + shift.positions) taps.first[t][shift.elements + c] += dy[c];
}

void add_at_argmax(const RowTaps<float*>& taps, int64_t windows, int64_t channels, const float* dy,
                   const int32_t* argmax) {
  for (int64_t i = 0; i < windows; ++i)
    add_at_argmax_of_window(taps, {i * taps.step, int32_t(i) * taps.position_step}, channels,
                            dy + i * channels, argmax + i * channels);
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(max_of_taps);
HWY_EXPORT(max_of_channels);
HWY_EXPORT(add_at_argmax);

}  // namespace

void max_of_taps(const RowTaps<const float*>& taps, int64_t windows, float* y, int32_t* argmax) {
  HWY_DYNAMIC_DISPATCH(max_of_taps)(taps, windows, y, argmax);
}

void max_of_taps(const RowTaps<const float*>& taps, int64_t windows, int64_t channels, float* y,
                 int32_t* argmax) {
  HWY_DYNAMIC_DISPATCH(max_of_channels)(taps, windows, channels, y, argmax);
}

void add_at_argmax(const RowTaps<float*>& taps, int64_t windows, int64_t channels, const float* dy,
                   const int32_t* argmax) {
  HWY_DYNAMIC_DISPATCH(add_at_argmax)(taps, windows, channels, dy, argmax);
}

}  // namespace treadle::cpu
#endif
