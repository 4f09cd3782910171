#include "treadle/ops/conv2d_max_pool2d/cpu/patch_sums.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/ops/conv2d_max_pool2d/cpu/patch_sums.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Integers = hn::RebindToSigned<Floats>;
constexpr int64_t kLanes = int64_t(hn::MaxLanes(Floats{}));

#if HWY_TARGET == HWY_SCALAR

using Choice = hn::Vec<Integers>;
HWY_INLINE Choice chooser(hn::Vec<Integers> choice) { return choice; }
HWY_INLINE hn::Vec<Floats> choose(const float* patch, Choice choice) {
  return hn::Set(Floats{}, patch[hn::GetLane(choice)]);
}

#else

/// The bytes of each lane's place in a block of four floats.
using Choice = hn::Vec<hn::Repartition<uint8_t, Integers> >;
HWY_INLINE Choice chooser(hn::Vec<Integers> choice) {
  const Integers d;
  const auto first = hn::Mul(choice, hn::Set(d, 0x04040404));
  return hn::BitCast(hn::Repartition<uint8_t, Integers>{}, hn::Add(first, hn::Set(d, 0x03020100)));
}
HWY_INLINE hn::Vec<Floats> choose(const float* patch, Choice choice) {
  const Floats d;
  const hn::Repartition<uint8_t, Integers> bytes;
  return hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(bytes, hn::LoadDup128(d, patch)), choice));
}

#endif

/// The filters from k on; those of the first `known` lanes have been added before.
HWY_INLINE void add_filters(const PatchRows& rows, int64_t k, int64_t known, float* HWY_RESTRICT sums,
                            float* HWY_RESTRICT gradient_sums) {
  const Floats d;
  const Integers di;
  const hn::Rebind<uint8_t, Integers> bytes;
  const auto places = hn::Set(di, int32_t(rows.places)), last = hn::Set(di, int32_t(kPatchPlaces - 1));
  const float* HWY_RESTRICT patch = rows.patches;
  const float* HWY_RESTRICT dy = rows.dy + k;
  const uint8_t* HWY_RESTRICT choice = rows.choice + k;
  hn::Vec<Floats> totals[kPatchTaps];
#pragma GCC unroll 16
  for (int t = 0; t < kPatchTaps; ++t) totals[t] = hn::Zero(d);
  auto gradients = hn::Zero(d);
  for (int64_t i = 0; i < rows.windows; ++i) {
    const auto chosen = hn::PromoteTo(di, hn::LoadU(bytes, choice));
    const auto value = hn::IfThenElseZero(hn::RebindMask(d, hn::Lt(chosen, places)), hn::LoadU(d, dy));
    const Choice place = chooser(hn::And(chosen, last));
    gradients = hn::Add(gradients, value);
#pragma GCC unroll 16
    for (int t = 0; t < kPatchTaps; ++t)
      totals[t] = hn::MulAdd(value, choose(patch + t * kPatchPlaces, place), totals[t]);
    patch += kPatchTaps * kPatchPlaces, dy += rows.filters, choice += rows.filters;
  }
  const auto is_known = hn::FirstN(d, size_t(known));
  auto add = [&](hn::Vec<Floats> total, float* to) {
    hn::StoreU(hn::Add(hn::LoadU(d, to), hn::IfThenZeroElse(is_known, total)), d, to);
  };
#pragma GCC unroll 16
  for (int t = 0; t < kPatchTaps; ++t) add(totals[t], sums + t * rows.filters + k);
  add(gradients, gradient_sums + k);
}

void add(const PatchRows& rows, float* sums, float* gradient_sums) {
  for (int64_t k = 0; k < rows.filters; k += kLanes) {
    const int64_t first = std::min(k, rows.filters - kLanes);
    add_filters(rows, first, k - first, sums, gradient_sums);
  }
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(add);

}  // namespace

void add_patches(const PatchRows& rows, float* sums, float* gradient_sums) {
  HWY_DYNAMIC_DISPATCH(add)(rows, sums, gradient_sums);
}

}  // namespace treadle::cpu
#endif
