#include "treadle/ops/conv2d_max_pool2d/cpu/rows_max_pool.h"

#include <algorithm>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/ops/conv2d_max_pool2d/cpu/rows_max_pool.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "treadle/ops/conv2d_max_pool2d/cpu/pooled_output-inl.h"

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using WindowFloats = hn::CappedTag<float, WindowPlanes::kMostLanes>;
using WindowIntegers = hn::RebindToSigned<WindowFloats>;
using WindowVector = hn::Vec<WindowFloats>;
constexpr int64_t kWindows = int64_t(hn::MaxLanes(WindowFloats()));  ///< of a vector

// Filters of a block: four sums for each stay in registers, beside four vectors of pixels and a tap.
constexpr int kMostFilters = kWindows == WindowPlanes::kMostLanes ? 6 : 2;

HWY_INLINE void copy_row(const float* HWY_RESTRICT from, int64_t step, int64_t count,
                         float* HWY_RESTRICT to) {
  const WindowFloats d;
  if (step != 1 || count < kWindows) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * step];
    return;
  }
  for (int64_t i = 0; i < count; i += kWindows) {
    const int64_t at = HWY_MIN(i, count - kWindows);
    hn::StoreU(hn::LoadU(d, from + at), d, to + at);
  }
}

/// Copies the pixels of channel c with their padding.
void copy_padded(const WindowImage& image, const WindowPlanes& planes, int64_t c, float* HWY_RESTRICT to) {
  const int64_t size = planes.pixel_columns();
  const int64_t left = HWY_MAX(image.left, 0), right = HWY_MIN(image.left + size, image.width),
                top = HWY_MAX(image.top, 0), bottom = HWY_MIN(image.top + planes.pixel_rows(), image.height);
  std::fill_n(to, planes.padded_size(), 0.0f);
  if (left >= right) return;
  const float* from = image.x + c * image.channel_step + top * image.row_step + left * image.column_step;
  to += (top - image.top) * size + left - image.left;
  for (int64_t row = top; row < bottom; ++row, from += image.row_step, to += size)
    copy_row(from, image.column_step, right - left, to);
}

/// Each row overwrites what the one above it left behind its end. What is behind the last is zero: vectors
/// that reach over it are no reason to look for NaN.
void take_apart(const float* HWY_RESTRICT padded, const WindowPlanes& planes, float* HWY_RESTRICT to) {
  const WindowFloats d;
  const int64_t step = planes.step(), last = planes.kernel_columns;
  for (int64_t i = 0; i < planes.pixel_rows(); ++i, padded += planes.pixel_columns()) {
    float* HWY_RESTRICT row = to + i % 2 * (planes.planes() / 2) * step + i / 2 * planes.columns;
    for (int64_t q = 0; q < planes.columns; q += kWindows)
      for (int64_t b = 0; b <= last; b += 2) {
        WindowVector even, odd;
        hn::LoadInterleaved2(d, padded + 2 * q + b, even, odd);
        hn::StoreU(even, d, row + b * step + q);
        if (b < last) hn::StoreU(odd, d, row + (b + 1) * step + q);
      }
  }
}

/// The largest of |values|, NaN and infinity above all; their number is a multiple of kMostLanes.
float largest_magnitude(const float* HWY_RESTRICT values, int64_t count) {
  const WindowFloats d;
  const WindowIntegers di;
  auto largest = hn::Zero(di);
  for (int64_t i = 0; i < count; i += kWindows)
    largest = hn::Max(largest, hn::BitCast(di, hn::Abs(hn::LoadU(d, values + i))));
  return hn::GetLane(hn::BitCast(d, hn::MaxOfLanes(di, largest)));
}

/// What the blocks of filters share.
struct WindowCall {
  int64_t kernel_rows, kernel_columns;
  int64_t columns, step, channel_step;  ///< of windows, from plane to plane, from channel to channel
  int64_t windows, channels, taps;
  bool vectors;  ///< of windows that are pooled together: none is NaN, and there are enough
  const float* pixels;
  const float* w;
  int64_t filters;
  const PooledOutput& output;
};

/// sums[f][:] = the results for filter k + f at the four places of the windows whose pixels begin at
/// `pixels`.
template <int Filters>
HWY_INLINE void multiply_windows(const WindowCall& call, const float* pixels, int64_t k,
                                 WindowVector (&sums)[Filters][4]) {
  const WindowFloats d;
  const int64_t step = call.step, columns = call.columns, filters = call.filters;
  const float* HWY_RESTRICT w = call.w + k;
#pragma GCC unroll 8
  for (int f = 0; f < Filters; ++f)
#pragma GCC unroll 4
    for (int place = 0; place < 4; ++place) sums[f][place] = hn::Zero(d);
  for (int64_t c = 0; c < call.channels; ++c) {
    const float* const even = pixels + c * call.channel_step;
    const float* const odd = even + call.channel_step / 2;
    for (int64_t r = 0; r < call.kernel_rows; ++r) {
      const float* HWY_RESTRICT top = (r % 2 ? odd : even) + r / 2 * columns;
      const float* HWY_RESTRICT bottom = (r % 2 ? even + columns : odd) + r / 2 * columns;
      WindowVector left[2] = {hn::LoadU(d, top), hn::LoadU(d, bottom)};
      for (int64_t s = 0; s < call.kernel_columns; ++s, w += filters) {
        top += step, bottom += step;
        const WindowVector right[2] = {hn::LoadU(d, top), hn::LoadU(d, bottom)};
#pragma GCC unroll 8
        for (int f = 0; f < Filters; ++f) {
          const WindowVector tap = hn::Set(d, w[f]);
          sums[f][0] = hn::MulAdd(left[0], tap, sums[f][0]);
          sums[f][1] = hn::MulAdd(right[0], tap, sums[f][1]);
          sums[f][2] = hn::MulAdd(left[1], tap, sums[f][2]);
          sums[f][3] = hn::MulAdd(right[1], tap, sums[f][3]);
        }
        left[0] = right[0], left[1] = right[1];
      }
    }
  }
}

/// The results of windows one by one, where NaN is as in Largest. `sums` is [filter][place][kWindows].
HWY_NOINLINE void pool_one_by_one(const float* HWY_RESTRICT sums, const float* HWY_RESTRICT bias,
                                  int64_t filters, int64_t windows, const PooledOutput& output,
                                  int64_t offset) {
  for (int64_t f = 0; f < filters; ++f, sums += 4 * kWindows)
    for (int64_t i = 0; i < windows; ++i) {
      uint8_t place = 0;
      float largest = sums[i];
      for (uint8_t next = 1; next < 4; ++next) {
        const float value = sums[next * kWindows + i];
        if (!(value <= largest) && largest == largest) largest = value, place = next;
      }
      const float sum = largest + bias[f];
      const int64_t at = offset + f * output.filter_step + i * output.window_step;
      output.y[at] = output.relu && sum <= 0 ? 0 : sum;
      if (output.choice) output.choice[at] = output.relu && !(sum > 0) ? kNoChoice : place;
    }
}

/// Results of up to four filters, those of a window side by side. Windows are in the order that takes the
/// fewest shuffles.
template <int Filters>
struct FilterTuples {
  HWY_ALIGN float memory[(Filters > 2 ? 4 : 2) * kWindows];

#if HWY_TARGET == HWY_SCALAR
  HWY_INLINE FilterTuples(WindowVector a, WindowVector b, WindowVector c, WindowVector e) {
    const WindowVector filters[] = {a, b, c, e};
    for (int f = 0; f < Filters; ++f) memory[f] = hn::GetLane(filters[f]);
  }
  const float* at(int64_t) const { return memory; }
#else
  HWY_INLINE FilterTuples(WindowVector a, WindowVector b, WindowVector c, WindowVector e) {
    const WindowFloats d;
    const hn::Repartition<double, WindowFloats> pairs;
    const auto lower = hn::InterleaveLower(d, a, b), upper = hn::InterleaveUpper(d, a, b);
    if constexpr (Filters <= 2) {
      hn::Store(lower, d, memory);
      hn::Store(upper, d, memory + kWindows);
    } else {
      const auto lower_pairs = hn::BitCast(pairs, lower), upper_pairs = hn::BitCast(pairs, upper),
                 next_lower = hn::BitCast(pairs, hn::InterleaveLower(d, c, e)),
                 next_upper = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
      hn::Store(hn::BitCast(d, hn::InterleaveLower(pairs, lower_pairs, next_lower)), d, memory);
      hn::Store(hn::BitCast(d, hn::InterleaveUpper(pairs, lower_pairs, next_lower)), d, memory + kWindows);
      hn::Store(hn::BitCast(d, hn::InterleaveLower(pairs, upper_pairs, next_upper)), d,
                memory + 2 * kWindows);
      hn::Store(hn::BitCast(d, hn::InterleaveUpper(pairs, upper_pairs, next_upper)), d,
                memory + 3 * kWindows);
    }
  }
  /// Of window i.
  HWY_INLINE const float* at(int64_t i) const {
    return memory + i / 4 * 4 + (Filters > 2 ? i % 4 * kWindows : i % 4 / 2 * kWindows + i % 2 * 2);
  }
#endif
};

/// The results of a vector of windows for `Filters` filters, of which none is NaN: one comparison a place
/// does.
template <int Filters, bool Chooses>
struct WindowResults {
  WindowVector y[Filters];
  hn::Vec<WindowIntegers> choice[Filters];

  HWY_INLINE WindowResults(const WindowVector (&sums)[Filters][4], const float* HWY_RESTRICT bias,
                           bool relu) {
    const WindowFloats d;
    const WindowIntegers di;
    constexpr auto kLimits = std::numeric_limits<float>();
    const auto least = hn::Set(d, relu ? 0 : -kLimits.infinity()),
               closed = hn::Set(d, relu ? 0 : kLimits.quiet_NaN());
#pragma GCC unroll 8
    for (int f = 0; f < Filters; ++f) {
      auto largest = sums[f][0];
      choice[f] = hn::Zero(di);
#pragma GCC unroll 3
      for (int place = 1; place < 4; ++place) {
        const auto take = hn::RebindMask(di, hn::Gt(sums[f][place], largest));
        choice[f] = hn::IfThenElse(take, hn::Set(di, place), choice[f]);
        largest = hn::Max(sums[f][place], largest);
      }
      const auto sum = hn::Add(largest, hn::Set(d, bias[f]));
      const auto shut = hn::RebindMask(di, hn::Le(sum, closed));
      choice[f] = hn::IfThenElse(shut, hn::Set(di, kNoChoice), choice[f]);
      y[f] = hn::Max(sum, least);
    }
  }

  /// Rows of windows.
  HWY_INLINE void store_rows(float* HWY_RESTRICT to, uint8_t* HWY_RESTRICT chosen, int64_t step) const {
    const WindowFloats d;
    const hn::Rebind<uint8_t, WindowFloats> bytes;
#pragma GCC unroll 8
    for (int f = 0; f < Filters; ++f) {
      hn::StoreU(y[f], d, to + f * step);
      if constexpr (Chooses) hn::StoreU(hn::DemoteTo(bytes, choice[f]), bytes, chosen + f * step);
    }
  }

  /// Filters side by side, four at a time.
  HWY_INLINE void store_columns(float* HWY_RESTRICT to, uint8_t* HWY_RESTRICT chosen, int64_t step) const {
    store_some<0>(to, chosen, step);
    if constexpr (Filters > 4) store_some<4>(to + 4, moved(chosen, 4), step);
  }

 private:
  template <int First>
  HWY_INLINE void store_some(float* HWY_RESTRICT to, uint8_t* HWY_RESTRICT chosen, int64_t step) const {
    constexpr int kCount = HWY_MIN(Filters - First, 4), kLast = First + kCount - 1;
    const WindowIntegers di;
    FilterTuples<kCount> tuples(y[First], y[HWY_MIN(First + 1, kLast)], y[HWY_MIN(First + 2, kLast)],
                                y[kLast]);
    HWY_ALIGN int32_t places[kWindows];  // a byte for each filter, the first lowest
    if constexpr (Chooses) {
      auto packed = choice[kLast];
#pragma GCC unroll 4
      for (int f = kLast - 1; f >= First; --f) packed = hn::Or(hn::ShiftLeft<8>(packed), choice[f]);
      hn::Store(packed, di, places);
    }
#pragma GCC unroll 16
    for (int64_t i = 0; i < kWindows; ++i) {
      std::memcpy(to + i * step, tuples.at(i), kCount * sizeof(float));
      if constexpr (Chooses) std::memcpy(chosen + i * step, places + i, kCount);
    }
  }
};

/// The windows from number i on, as many as a vector holds or all if they are fewer, for filters [first,
/// last) in blocks of `Filters`.
template <int Filters, bool Chooses>
void pool_windows(const WindowCall& call, int64_t i, int64_t first, int64_t last, int64_t offset) {
  const WindowFloats d;
  const PooledOutput& output = call.output;
  const float* HWY_RESTRICT bias = call.w + call.taps * call.filters;
  for (int64_t k = first; k < last; k += Filters) {
    WindowVector sums[Filters][4];
    multiply_windows<Filters>(call, call.pixels + i, k, sums);
    const int64_t at = offset + k * output.filter_step;
    if (!call.vectors) {
      HWY_ALIGN float values[Filters * 4 * kWindows];
#pragma GCC unroll 8
      for (int f = 0; f < Filters; ++f)
#pragma GCC unroll 4
        for (int place = 0; place < 4; ++place)
          hn::Store(sums[f][place], d, values + (f * 4 + place) * kWindows);
      pool_one_by_one(values, bias + k, Filters, HWY_MIN(kWindows, call.windows), output, at);
      continue;
    }
    const WindowResults<Filters, Chooses> results(sums, bias + k, output.relu);
    if (output.window_step == 1)
      results.store_rows(output.y + at, moved(output.choice, at), output.filter_step);
    else
      results.store_columns(output.y + at, moved(output.choice, at), output.window_step);
  }
}

template <int Filters>
void pool_blocks(const WindowCall& call, int64_t i, int64_t first, int64_t last, int64_t offset) {
  if (call.output.choice)
    pool_windows<Filters, true>(call, i, first, last, offset);
  else
    pool_windows<Filters, false>(call, i, first, last, offset);
}

using PoolBlocks = void (*)(const WindowCall&, int64_t, int64_t, int64_t, int64_t);
constexpr PoolBlocks kPoolBlocks[] = {pool_blocks<1>,
                                      pool_blocks<2>,
                                      pool_blocks<HWY_MIN(3, kMostFilters)>,
                                      pool_blocks<HWY_MIN(4, kMostFilters)>,
                                      pool_blocks<HWY_MIN(5, kMostFilters)>,
                                      pool_blocks<HWY_MIN(6, kMostFilters)>};

void run_rows(const WindowImage& image, const WindowPlanes& planes, const float* w, int64_t filters,
              int64_t first_window, const PooledOutput& output, float* scratch) {
  float* pixels = scratch + planes.padded_size();
  double reach = 0;  // of one tap in each channel
  for (int64_t c = 0; c < image.channels; ++c) {
    copy_padded(image, planes, c, scratch);
    reach += largest_magnitude(scratch, planes.padded_size());
    take_apart(scratch, planes, pixels + c * planes.size());
  }
  const int64_t windows = planes.rows * planes.columns, taps = planes.kernel_rows * planes.kernel_columns;
  const double result =
      largest_magnitude(w, rows_filters_size(image.channels * taps, filters)) * (double(taps) * reach + 1);
  const WindowCall call{planes.kernel_rows,
                        planes.kernel_columns,
                        planes.columns,
                        planes.step(),
                        planes.size(),
                        windows,
                        image.channels,
                        image.channels * taps,
                        windows >= kWindows && result < std::numeric_limits<float>::max() / 2,
                        pixels,
                        w,
                        filters,
                        output};
  const int64_t whole = filters / kMostFilters * kMostFilters;
  for (int64_t next = 0; next < windows; next += kWindows) {
    const int64_t i = HWY_MAX(HWY_MIN(next, windows - kWindows), 0);  // some of the last are done twice
    const int64_t offset = output.at(first_window + i, 0);
    pool_blocks<kMostFilters>(call, i, 0, whole, offset);
    if (whole < filters) kPoolBlocks[filters - whole - 1](call, i, whole, filters, offset);
  }
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(run_rows);

}  // namespace

int64_t rows_scratch_size(int64_t channels, const WindowPlanes& planes) {
  return planes.padded_size() + channels * planes.size();
}

void rows_max_pool(const WindowImage& image, const WindowPlanes& planes, const float* w, int64_t filters,
                   int64_t first_window, const PooledOutput& output, float* scratch) {
  HWY_DYNAMIC_DISPATCH(run_rows)(image, planes, w, filters, first_window, output, scratch);
}

}  // namespace treadle::cpu
#endif
