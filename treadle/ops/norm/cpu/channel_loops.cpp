#include "treadle/ops/norm/cpu/channel_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/ops/norm/cpu/channel_loops.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using OneFloat = hn::CappedTag<float, 1>;
constexpr int64_t kLanes = int64_t(hn::MaxLanes(Floats{}));

/// Calls f(tag, offset) for whole vectors of `count` elements, then for one element at a time.
template <class F>
HWY_INLINE void for_each_vector(int64_t count, F f) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) f(Floats(), i);
  for (; i < count; ++i) f(OneFloat(), i);
}

/// The elements of an array by channel that belong to a vector of a row, or of a plane.
template <bool planes, class D>
HWY_INLINE hn::Vec<D> of_channel(D d, const float* values, int64_t c) {
  if constexpr (planes)
    return hn::Set(d, values[c]);
  else
    return hn::LoadU(d, values + c);
}

/// Calls f(planes, tag, offset, channel) for each vector of a piece, in the order of memory.
template <class F>
HWY_INLINE void for_each_element(const ChannelPiece& piece, F f) {
  if (piece.planes)
    for (int64_t c = 0; c < piece.channels; ++c)
      for_each_vector(piece.places,
                      [&](auto d, int64_t i) HWY_ATTR { f(std::true_type(), d, c * piece.places + i, c); });
  else
    for (int64_t row = 0; row < piece.rows; ++row)
      for_each_vector(piece.channels, [&](auto d, int64_t c)
                                          HWY_ATTR { f(std::false_type(), d, row * piece.channels + c, c); });
}

template <class D>
HWY_INLINE float sum_of_lanes(D d, hn::Vec<D> v) {
  return hn::GetLane(hn::SumOfLanes(d, v));
}

/// sums[k][c] += what term(planes, tag, offset, channel, k) gives for each vector.
template <int K, class Terms>
HWY_INLINE void add_sums(const ChannelPiece& piece, float* const (&sums)[K], Terms terms) {
  if (piece.planes) {
    for (int64_t c = 0; c < piece.channels; ++c) {
      constexpr int kChains = 4;  // sums that do not wait for one another
      const Floats d;
      const int64_t first = c * piece.places;
      hn::Vec<Floats> chains[kChains][K];
      for (auto& chain : chains)
        for (auto& sum : chain) sum = hn::Zero(d);
      int64_t i = 0;
      for (; i + kChains * kLanes <= piece.places; i += kChains * kLanes)
#pragma GCC unroll 4
        for (int j = 0; j < kChains; ++j) terms(std::true_type(), d, first + i + j * kLanes, c, chains[j]);
      for (; i + kLanes <= piece.places; i += kLanes) terms(std::true_type(), d, first + i, c, chains[0]);
      const OneFloat one;
      hn::Vec<OneFloat> rest[K];
      for (auto& sum : rest) sum = hn::Zero(one);
      for (; i < piece.places; ++i) terms(std::true_type(), one, first + i, c, rest);
      for (int k = 0; k < K; ++k)
        sums[k][c] += sum_of_lanes(d, hn::Add(hn::Add(chains[0][k], chains[1][k]),
                                              hn::Add(chains[2][k], chains[3][k]))) +
                      hn::GetLane(rest[k]);
    }
    return;
  }
  for_each_vector(piece.channels, [&](auto d, int64_t c) HWY_ATTR {
    hn::Vec<decltype(d)> chain[K];
    for (int k = 0; k < K; ++k) chain[k] = hn::LoadU(d, sums[k] + c);
    for (int64_t row = 0; row < piece.rows; ++row)
      terms(std::false_type(), d, row * piece.channels + c, c, chain);
    for (int k = 0; k < K; ++k) hn::StoreU(chain[k], d, sums[k] + c);
  });
}

void add_distances(const ChannelPiece& piece, const float* HWY_RESTRICT x, const float* HWY_RESTRICT origin,
                   float* HWY_RESTRICT sums) {
  add_sums<1>(piece, {sums}, [&](auto planes, auto d, int64_t i, int64_t c, auto& sum) HWY_ATTR {
    sum[0] = hn::Add(sum[0], hn::Sub(hn::LoadU(d, x + i), of_channel<planes.value>(d, origin, c)));
  });
}

void add_squares(const ChannelPiece& piece, const float* HWY_RESTRICT x, const float* HWY_RESTRICT origin,
                 float* HWY_RESTRICT sums) {
  add_sums<1>(piece, {sums}, [&](auto planes, auto d, int64_t i, int64_t c, auto& sum) HWY_ATTR {
    const auto distance = hn::Sub(hn::LoadU(d, x + i), of_channel<planes.value>(d, origin, c));
    sum[0] = hn::MulAdd(distance, distance, sum[0]);
  });
}

/// y without a residual, of x - mean.
template <bool planes, class D>
HWY_INLINE hn::Vec<D> normalized(D d, hn::Vec<D> distance, const float* scale, const float* shift,
                                 int64_t c) {
  return hn::MulAdd(distance, of_channel<planes>(d, scale, c), of_channel<planes>(d, shift, c));
}

template <bool residual, bool relu>
HWY_INLINE void normalize_as(const ChannelPiece& piece, const Normalization& by, const float* HWY_RESTRICT x,
                             float* HWY_RESTRICT y) {
  const float *HWY_RESTRICT mean = by.mean, *HWY_RESTRICT scale = by.scale, *HWY_RESTRICT shift = by.shift,
                            *HWY_RESTRICT added = by.residual;
  for_each_element(piece, [&](auto planes, auto d, int64_t i, int64_t c) HWY_ATTR {
    constexpr bool kPlanes = planes.value;
    auto value = normalized<kPlanes>(d, hn::Sub(hn::LoadU(d, x + i), of_channel<kPlanes>(d, mean, c)), scale,
                                     shift, c);
    if constexpr (residual) value = hn::Add(value, hn::LoadU(d, added + i));
    if constexpr (relu) value = hn::IfThenZeroElse(hn::Le(value, hn::Zero(d)), value);  // NaN stays
    hn::StoreU(value, d, y + i);
  });
}

void normalize(const ChannelPiece& piece, const Normalization& by, const float* x, float* y) {
  if (by.residual)
    by.relu ? normalize_as<true, true>(piece, by, x, y) : normalize_as<true, false>(piece, by, x, y);
  else
    by.relu ? normalize_as<false, true>(piece, by, x, y) : normalize_as<false, false>(piece, by, x, y);
}

/// Where ReLU let something through: everywhere without one, or by y, which is given or found anew from x.
enum class Open { everywhere, by_y, by_x };

Open open_of(const NormalizedGradient& of) {
  return of.y ? Open::by_y : of.scale ? Open::by_x : Open::everywhere;
}

/// dy where y > 0; `distance` is x - mean.
template <Open open, bool planes, class D>
HWY_INLINE hn::Vec<D> open_gradient(D d, const NormalizedGradient& of, hn::Vec<D> distance, int64_t i,
                                    int64_t c) {
  const auto dy = hn::LoadU(d, of.dy + i);
  if constexpr (open == Open::everywhere) return dy;
  auto y = distance;
  if constexpr (open == Open::by_y) y = hn::LoadU(d, of.y + i);
  if constexpr (open == Open::by_x) y = normalized<planes>(d, distance, of.scale, of.shift, c);
  return hn::IfThenZeroElse(hn::Le(y, hn::Zero(d)), dy);
}

template <Open open>
HWY_INLINE void add_gradient_sums_as(const ChannelPiece& piece, const NormalizedGradient& of,
                                     float* HWY_RESTRICT sums, float* HWY_RESTRICT products) {
  add_sums<2>(piece, {sums, products}, [&](auto planes, auto d, int64_t i, int64_t c, auto& sum) HWY_ATTR {
    constexpr bool kPlanes = planes.value;
    const auto distance = hn::Sub(hn::LoadU(d, of.x + i), of_channel<kPlanes>(d, of.mean, c));
    const auto dz = open_gradient<open, kPlanes>(d, of, distance, i, c);
    sum[0] = hn::Add(sum[0], dz);
    sum[1] = hn::MulAdd(dz, distance, sum[1]);
  });
}

void add_gradient_sums(const ChannelPiece& piece, const NormalizedGradient& of, float* sums,
                       float* products) {
  switch (open_of(of)) {
    case Open::everywhere:
      return add_gradient_sums_as<Open::everywhere>(piece, of, sums, products);
    case Open::by_y:
      return add_gradient_sums_as<Open::by_y>(piece, of, sums, products);
    case Open::by_x:
      return add_gradient_sums_as<Open::by_x>(piece, of, sums, products);
  }
}

template <Open open>
HWY_INLINE void write_gradient_as(const ChannelPiece& piece, const NormalizedGradient& of,
                                  const float* HWY_RESTRICT offset, const float* HWY_RESTRICT slope,
                                  const float* HWY_RESTRICT scale, float* HWY_RESTRICT dx,
                                  float* HWY_RESTRICT dz) {
  for_each_element(piece, [&](auto planes, auto d, int64_t i, int64_t c) HWY_ATTR {
    constexpr bool kPlanes = planes.value;
    const auto distance = hn::Sub(hn::LoadU(d, of.x + i), of_channel<kPlanes>(d, of.mean, c));
    const auto passed = open_gradient<open, kPlanes>(d, of, distance, i, c);
    const auto centred = hn::NegMulAdd(distance, of_channel<kPlanes>(d, slope, c),
                                       hn::Sub(passed, of_channel<kPlanes>(d, offset, c)));
    hn::StoreU(hn::Mul(centred, of_channel<kPlanes>(d, scale, c)), d, dx + i);
    if constexpr (open != Open::everywhere)
      if (dz) hn::StoreU(passed, d, dz + i);
  });
}

void write_gradient(const ChannelPiece& piece, const NormalizedGradient& of, const float* offset,
                    const float* slope, const float* scale, float* dx, float* dz) {
  switch (open_of(of)) {
    case Open::everywhere:
      return write_gradient_as<Open::everywhere>(piece, of, offset, slope, scale, dx, dz);
    case Open::by_y:
      return write_gradient_as<Open::by_y>(piece, of, offset, slope, scale, dx, dz);
    case Open::by_x:
      return write_gradient_as<Open::by_x>(piece, of, offset, slope, scale, dx, dz);
  }
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(add_distances);
HWY_EXPORT(add_squares);
HWY_EXPORT(normalize);
HWY_EXPORT(add_gradient_sums);
HWY_EXPORT(write_gradient);

}  // namespace

void add_distances(const ChannelPiece& piece, const float* x, const float* origin, float* sums) {
  HWY_DYNAMIC_DISPATCH(add_distances)(piece, x, origin, sums);
}

void add_squares(const ChannelPiece& piece, const float* x, const float* origin, float* sums) {
  HWY_DYNAMIC_DISPATCH(add_squares)(piece, x, origin, sums);
}

void normalize(const ChannelPiece& piece, const Normalization& by, const float* x, float* y) {
  HWY_DYNAMIC_DISPATCH(normalize)(piece, by, x, y);
}

void add_gradient_sums(const ChannelPiece& piece, const NormalizedGradient& of, float* sums,
                       float* products) {
  HWY_DYNAMIC_DISPATCH(add_gradient_sums)(piece, of, sums, products);
}

void write_gradient(const ChannelPiece& piece, const NormalizedGradient& of, const float* offset,
                    const float* slope, const float* scale, float* dx, float* dz) {
  HWY_DYNAMIC_DISPATCH(write_gradient)(piece, of, offset, slope, scale, dx, dz);
}

}  // namespace treadle::cpu
#endif
