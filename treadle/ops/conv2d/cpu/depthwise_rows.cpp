#include "treadle/ops/conv2d/cpu/depthwise_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/ops/conv2d/cpu/depthwise_rows.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;
constexpr int64_t kLanes = int64_t(hn::MaxLanes(Floats()));
constexpr int kAtOnce = 4;  ///< results whose sums registers hold

/// Channels [c, c + count) of a vector; those that are not there are 0 and are not stored.
struct Channels {
  int64_t c, count;

  HWY_INLINE Vector load(const float* from) const {
    if (count == kLanes) return hn::LoadU(Floats(), from);
    HWY_ALIGN float some[kLanes] = {};
    std::copy_n(from, count, some);
    return hn::Load(Floats(), some);
  }
  HWY_INLINE void store(Vector value, float* to) const {
    if (count == kLanes) return hn::StoreU(value, Floats(), to);
    HWY_ALIGN float some[kLanes];
    hn::Store(value, Floats(), some);
    std::copy_n(some, count, to);
  }
};

/// Calls f(channels) for all channels, a vector at a time.
template <class F>
HWY_INLINE void for_channels(int64_t channels, F f) {
  for (int64_t c = 0; c < channels; c += kLanes) f(Channels{c, HWY_MIN(kLanes, channels - c)});
}

/// The row of pixels under tap r of result row p, from the vector's first channel on; of zeros where it lies
/// outside.
HWY_INLINE const float* row_under(const WindowGeometry& g, const DepthwiseImages<const float>& x,
                                  const float* zeros, int64_t n, int64_t p, int64_t r, int64_t c) {
  const int64_t h = g.row(p, r);
  return (h >= 0 && h < g.H ? x.at + n * x.image_step + h * x.row_step : zeros) + c;
}

HWY_INLINE Vector finished(Vector sum, bool relu) {
  return relu ? hn::IfThenZeroElse(hn::Le(sum, hn::Zero(Floats())), sum) : sum;
}

/// One result, whose columns may lie outside.
HWY_INLINE Vector any_result(const DepthwiseConvolution& o, int64_t n, int64_t p, int64_t q,
                             Channels channels) {
  const WindowGeometry& g = o.g;
  const int64_t step = depthwise_tap_step(o.channels);
  Vector sum = channels.load(o.bias + channels.c);
  for (int64_t r = 0; r < g.R; ++r) {
    const float* row = row_under(g, o.x, o.zeros, n, p, r, channels.c);
    for (int64_t s = 0; s < g.S; ++s) {
      const int64_t w = g.column(q, s);
      if (w < 0 || w >= g.W) continue;
      const Vector tap = hn::LoadU(Floats(), o.taps + (r * g.S + s) * step + channels.c);
      sum = hn::MulAdd(channels.load(row + w * o.x.column_step), tap, sum);
    }
  }
  return sum;
}

/// Where a 3×3 filter of dilation 1 and this stride meets the pixels of a row of results.
template <int Stride>
struct RowsOf3x3 {
  static constexpr int kPixels = (kAtOnce - 1) * Stride + 3;
  const float* rows[3];
  int64_t left, width, columns, step;

  HWY_INLINE RowsOf3x3(const WindowGeometry& g, const DepthwiseImages<const float>& x, const float* zeros,
                       int64_t n, int64_t p)
      : left(g.padding.width), width(g.W), columns(g.Q), step(x.column_step) {
    for (int r = 0; r < 3; ++r) rows[r] = row_under(g, x, zeros, n, p, r, 0);
  }
  /// Whether results q … q + kAtOnce - 1 exist and their pixels lie inside.
  HWY_INLINE bool whole(int64_t q) const {
    const int64_t first = q * Stride - left;
    return first >= 0 && first + kPixels <= width && q + kAtOnce <= columns;
  }
  template <bool Whole>
  HWY_INLINE void load(int r, int64_t q, Channels channels, Vector* pixels) const {
    const int64_t first = q * Stride - left;
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i)
      pixels[i] = Whole || (first + i >= 0 && first + i < width)
                      ? channels.load(rows[r] + channels.c + (first + i) * step)
                      : hn::Zero(Floats());
  }
};

/// Results q … q + kAtOnce - 1, as far as they exist.
template <bool Whole, int Stride>
HWY_INLINE void results_of_3x3(const DepthwiseConvolution& o, const RowsOf3x3<Stride>& rows, int64_t q,
                               Channels channels, float* y) {
  const int64_t step = depthwise_tap_step(o.channels);
  const Vector bias = channels.load(o.bias + channels.c);
  Vector sums[kAtOnce];
#pragma GCC unroll 4
  for (int j = 0; j < kAtOnce; ++j) sums[j] = bias;
#pragma GCC unroll 3
  for (int r = 0; r < 3; ++r) {
    Vector pixels[RowsOf3x3<Stride>::kPixels];
    rows.template load<Whole>(r, q, channels, pixels);
#pragma GCC unroll 3
    for (int s = 0; s < 3; ++s) {
      const Vector tap = hn::LoadU(Floats(), o.taps + (3 * r + s) * step + channels.c);
#pragma GCC unroll 4
      for (int j = 0; j < kAtOnce; ++j) sums[j] = hn::MulAdd(pixels[j * Stride + s], tap, sums[j]);
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < kAtOnce; ++j)
    if (Whole || q + j < rows.columns)
      channels.store(finished(sums[j], o.relu), y + (q + j) * o.y.column_step + channels.c);
}

/// All channels of some pixels are read before the next pixels: memory is read as it lies.
template <int Stride>
HWY_INLINE void row_of_3x3(const DepthwiseConvolution& o, int64_t n, int64_t p, float* y) {
  const RowsOf3x3<Stride> rows(o.g, o.x, o.zeros, n, p);
  const int64_t whole_channels = o.channels / kLanes * kLanes, rest = o.channels - whole_channels;
  for (int64_t q = 0; q < o.g.Q; q += kAtOnce) {
    if (rows.whole(q))
      for (int64_t c = 0; c < whole_channels; c += kLanes)
        results_of_3x3<true>(o, rows, q, Channels{c, kLanes}, y);
    else
      for (int64_t c = 0; c < whole_channels; c += kLanes)
        results_of_3x3<false>(o, rows, q, Channels{c, kLanes}, y);
    if (rest) results_of_3x3<false>(o, rows, q, Channels{whole_channels, rest}, y);
  }
}

/// Which of the kernels takes the filters: 1 and 2 for 3×3 ones of that stride, 0 for any.
HWY_INLINE int stride_of_3x3(const WindowGeometry& g) {
  if (g.R != 3 || g.S != 3 || g.dilation.width != 1 || g.stride.width > 2) return 0;
  return int(g.stride.width);
}

HWY_INLINE void run_row(const DepthwiseConvolution& o, int stride, int64_t n, int64_t p, float* y) {
  if (stride == 1) return row_of_3x3<1>(o, n, p, y);
  if (stride == 2) return row_of_3x3<2>(o, n, p, y);
  for (int64_t q = 0; q < o.g.Q; ++q)
    for_channels(o.channels, [&](Channels channels) HWY_ATTR {
      channels.store(finished(any_result(o, n, p, q, channels), o.relu),
                     y + q * o.y.column_step + channels.c);
    });
}

void run_rows(const DepthwiseConvolution& o, int64_t begin, int64_t end) {
  const int stride = stride_of_3x3(o.g);
  for (int64_t row = begin; row < end; ++row) {
    const int64_t n = row / o.g.P, p = row % o.g.P;
    run_row(o, stride, n, p, o.y.at + n * o.y.image_step + p * o.y.row_step);
  }
}

/// Adds one result's gradient times its pixels to the sums of all taps.
HWY_INLINE void add_any(const DepthwiseWeights& o, int64_t n, int64_t p, int64_t q, const float* dy,
                        Channels channels, float* sums) {
  const WindowGeometry& g = o.g;
  const int64_t step = depthwise_tap_step(o.channels);
  const Vector gradient = channels.load(dy + q * o.dy.column_step);
  for (int64_t r = 0; r < g.R; ++r) {
    const float* row = row_under(g, o.x, o.zeros, n, p, r, channels.c);
    for (int64_t s = 0; s < g.S; ++s) {
      const int64_t w = g.column(q, s);
      if (w < 0 || w >= g.W) continue;
      float* const sum = sums + (r * g.S + s) * step + channels.c;
      hn::StoreU(hn::MulAdd(gradient, channels.load(row + w * o.x.column_step), hn::LoadU(Floats(), sum)),
                 Floats(), sum);
    }
  }
}

/// The same for results q … q + kAtOnce - 1, as far as they exist, of a 3×3 filter.
template <bool Whole, int Stride>
HWY_INLINE void add_3x3(const DepthwiseWeights& o, const RowsOf3x3<Stride>& rows, int64_t q, const float* dy,
                        Channels channels, Vector* sums) {
  Vector gradients[kAtOnce];
#pragma GCC unroll 4
  for (int j = 0; j < kAtOnce; ++j)
    gradients[j] =
        Whole || q + j < rows.columns ? channels.load(dy + (q + j) * o.dy.column_step) : hn::Zero(Floats());
#pragma GCC unroll 3
  for (int r = 0; r < 3; ++r) {
    Vector pixels[RowsOf3x3<Stride>::kPixels];
    rows.template load<Whole>(r, q, channels, pixels);
#pragma GCC unroll 4
    for (int j = 0; j < kAtOnce; ++j)
#pragma GCC unroll 3
      for (int s = 0; s < 3; ++s)
        sums[3 * r + s] = hn::MulAdd(gradients[j], pixels[j * Stride + s], sums[3 * r + s]);
  }
}

template <int Stride>
HWY_INLINE void add_row_of_3x3(const DepthwiseWeights& o, int64_t n, int64_t p, const float* dy,
                               Channels channels, float* sums) {
  const int64_t step = depthwise_tap_step(o.channels);
  Vector taps[9];
#pragma GCC unroll 9
  for (int i = 0; i < 9; ++i) taps[i] = hn::LoadU(Floats(), sums + i * step + channels.c);
  const RowsOf3x3<Stride> rows(o.g, o.x, o.zeros, n, p);
  for (int64_t q = 0; q < o.g.Q; q += kAtOnce)
    if (rows.whole(q))
      add_3x3<true>(o, rows, q, dy, channels, taps);
    else
      add_3x3<false>(o, rows, q, dy, channels, taps);
#pragma GCC unroll 9
  for (int i = 0; i < 9; ++i) hn::StoreU(taps[i], Floats(), sums + i * step + channels.c);
}

HWY_INLINE void add_row(const DepthwiseWeights& o, int stride, int64_t n, int64_t p, const float* dy,
                        Channels channels, float* sums) {
  if (stride == 1) return add_row_of_3x3<1>(o, n, p, dy, channels, sums);
  if (stride == 2) return add_row_of_3x3<2>(o, n, p, dy, channels, sums);
  for (int64_t q = 0; q < o.g.Q; ++q) add_any(o, n, p, q, dy, channels, sums);
}

void add_rows(const DepthwiseWeights& o, int64_t begin, int64_t end, float* sums) {
  const int stride = stride_of_3x3(o.g);
  for (int64_t row = begin; row < end; ++row) {
    const int64_t n = row / o.g.P, p = row % o.g.P;
    const float* const dy = o.dy.at + n * o.dy.image_step + p * o.dy.row_step;
    for_channels(o.channels, [&](Channels channels) HWY_ATTR {
      if (channels.count == kLanes)
        add_row(o, stride, n, p, dy + channels.c, Channels{channels.c, kLanes}, sums);
      else
        add_row(o, stride, n, p, dy + channels.c, channels, sums);
    });
  }
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(run_rows);
HWY_EXPORT(add_rows);

}  // namespace

void depthwise_rows(const DepthwiseConvolution& convolution, int64_t begin, int64_t end) {
  HWY_DYNAMIC_DISPATCH(run_rows)(convolution, begin, end);
}

void depthwise_add_weights(const DepthwiseWeights& weights, int64_t begin, int64_t end, float* sums) {
  HWY_DYNAMIC_DISPATCH(add_rows)(weights, begin, end, sums);
}

}  // namespace treadle::cpu
#endif
