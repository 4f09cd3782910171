#include "treadle/ops/conv2d_max_pool2d/cpu/tiled_max_pool.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/ops/conv2d_max_pool2d/cpu/tiled_max_pool.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "treadle/ops/conv2d_max_pool2d/cpu/pooled_output-inl.h"

#ifndef TREADLE_CPU_TILED_MAX_POOL_ONCE
#define TREADLE_CPU_TILED_MAX_POOL_ONCE
namespace treadle::cpu {

constexpr int64_t kMostTileRows = 12;
constexpr int64_t kTapsPerPass = 256;  ///< their filters take 16 KiB, half the first-level cache

/// The memory of one call.
struct TiledScratch {
  float* results;    ///< [place][kTiledFilters], and room for a register tile that sticks out
  int32_t* offsets;  ///< of the places in x
  float* y;          ///< [window][kTiledFilters]
  uint8_t* choice;

  TiledScratch(void* memory, int64_t places, int64_t windows) : results(static_cast<float*>(memory)) {
    y = results + (places + kMostTileRows) * kTiledFilters;
    offsets = reinterpret_cast<int32_t*>(y + windows * kTiledFilters);
    choice = reinterpret_cast<uint8_t*>(offsets + places + kMostTileRows);
  }
};

}  // namespace treadle::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kTiledFilters>;
using Vector = hn::Vec<Floats>;
constexpr int64_t kLanes = int64_t(hn::MaxLanes(Floats()));
constexpr int kVectors = int(kTiledFilters / kLanes);  ///< of a whole block
// Sums for the places of a register tile: 12 or 16 of at least 16 registers, 12 of 32.
constexpr int kTileRows = kVectors == 1 ? 12 : kVectors == 2 ? 6 : 3;
constexpr int kNarrowTileRows = 8;  ///< of tiles that are one vector wide

/// One register tile: results[row][:] = Σ_t x[row + taps[t]] · w[t][:], or += unless it is the first pass.
template <int Rows, int Vectors, bool FirstPass>
HWY_INLINE void multiply_tile(const float* HWY_RESTRICT x, const int32_t* HWY_RESTRICT offsets,
                              const int32_t* HWY_RESTRICT taps, int64_t tap_count,
                              const float* HWY_RESTRICT w, float* HWY_RESTRICT results) {
  const Floats d;
  const float* rows[Rows];
  Vector sums[Rows][Vectors];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    rows[i] = x + offsets[i];
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j)
      sums[i][j] = FirstPass ? hn::Zero(d) : hn::Load(d, results + i * kTiledFilters + j * kLanes);
  }
  for (int64_t t = 0; t < tap_count; ++t, w += kTiledFilters) {
    const int64_t tap = taps[t];
    Vector filters[Vectors];
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j) filters[j] = hn::Load(d, w + j * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      const Vector pixel = hn::Set(d, rows[i][tap]);
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; ++j) sums[i][j] = hn::MulAdd(pixel, filters[j], sums[i][j]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j) hn::Store(sums[i][j], d, results + i * kTiledFilters + j * kLanes);
}

/// All places; the offsets beyond the last repeat it.
template <int Rows, int Vectors>
void multiply_places(const TiledPlaces& places, const int32_t* offsets, const float* w, float* results) {
  const int64_t count = places.rows * places.columns, first = HWY_MIN(kTapsPerPass, places.tap_count);
  for (int64_t i = 0; i < count; i += Rows)
    multiply_tile<Rows, Vectors, true>(places.x, offsets + i, places.taps, first, w,
                                       results + i * kTiledFilters);
  for (int64_t t = first; t < places.tap_count; t += kTapsPerPass)
    for (int64_t i = 0; i < count; i += Rows)
      multiply_tile<Rows, Vectors, false>(places.x, offsets + i, places.taps + t,
                                          HWY_MIN(kTapsPerPass, places.tap_count - t), w + t * kTiledFilters,
                                          results + i * kTiledFilters);
}

void list_offsets(const TiledPlaces& places, int32_t* offsets) {
  for (int64_t i = 0; i < places.rows; ++i)
    for (int64_t j = 0; j < places.columns; ++j)
      *offsets++ = int32_t(i * places.row_step + j * places.column_step);
  for (int64_t i = 0; i < kMostTileRows; ++i, ++offsets) *offsets = offsets[-1];
}

/// Taps of a window that lie inside an axis of places, and the place under the window's first, which may not.
struct AxisPart {
  int64_t begin, end, first;

  AxisPart(int64_t window, int64_t step, int64_t padding, int64_t taps, int64_t first_place, int64_t places)
      : first(window * step - padding - first_place) {
    begin = HWY_MAX(0, -first), end = HWY_MIN(taps, places - first);
  }
  bool whole(int64_t taps) const { return begin == 0 && end == taps; }
};

/// The largest of any window for `Vectors` vectors of filters; `results` begins at the window's corner.
template <int Vectors, bool Chooses>
HWY_INLINE void pool_window(const AxisPart& row, const AxisPart& column, int64_t row_step,
                            int64_t window_width, const float* HWY_RESTRICT results,
                            const float* HWY_RESTRICT bias, bool relu, float* HWY_RESTRICT y,
                            uint8_t* HWY_RESTRICT choice) {
  const Floats d;
  for (int j = 0; j < Vectors; ++j) {
    Largest<Floats, Chooses> largest(d, hn::Set(d, -std::numeric_limits<float>::infinity()), kNoChoice);
    for (int64_t r = row.begin; r < row.end; ++r)
      for (int64_t s = column.begin; s < column.end; ++s) {
        const Vector value = hn::Load(d, results + (r * row_step + s) * kTiledFilters + j * kLanes);
        if (r == row.begin && s == column.begin)
          largest = Largest<Floats, Chooses>(d, value, int32_t(r * window_width + s));
        else
          largest.look_at(d, value, int32_t(r * window_width + s));
      }
    largest.store(d, hn::Load(d, bias + j * kLanes), relu, y + j * kLanes, moved(choice, j * kLanes));
  }
}

/// The largest of a window of 2×2 places, all inside; `results` begins at the first.
template <int Vectors>
HWY_INLINE void pool_window_2x2(const float* HWY_RESTRICT results, int64_t row_step,
                                const float* HWY_RESTRICT bias, bool relu, float* HWY_RESTRICT y,
                                uint8_t* HWY_RESTRICT choice) {
  const Floats d;
  const float* HWY_RESTRICT below = results + row_step * kTiledFilters;
#pragma GCC unroll 4
  for (int j = 0; j < Vectors; ++j) {
    const Vector window[4] = {
        hn::Load(d, results + j * kLanes), hn::Load(d, results + kTiledFilters + j * kLanes),
        hn::Load(d, below + j * kLanes), hn::Load(d, below + kTiledFilters + j * kLanes)};
    store_largest_of_four(d, window, hn::Load(d, bias + j * kLanes), relu, y + j * kLanes,
                          moved(choice, j * kLanes));
  }
}

/// Pools the first `Vectors` vectors of filters of all windows.
template <int Vectors>
void pool_places(const TiledPlaces& places, const TiledWindows& windows, const float* results,
                 const float* bias, const PooledBlock<kTiledFilters>& block) {
  const bool relu = block.output.relu;
  float* y = block.y;
  uint8_t* choice = block.choice;
  for (int64_t p = 0; p < windows.rows; ++p) {
    const AxisPart row(windows.first_row + p, windows.row_step, windows.top, windows.height, places.first_row,
                       places.rows);
    const bool two_rows = windows.height == 2 && windows.width == 2 && row.whole(2);
    for (int64_t q = 0; q < windows.columns; ++q, y += block.step, choice = moved(choice, block.step)) {
      const AxisPart column(q, windows.column_step, windows.left, windows.width, places.first_column,
                            places.columns);
      const float* corner = results + (row.first * places.columns + column.first) * kTiledFilters;
      if (two_rows && column.whole(2))
        pool_window_2x2<Vectors>(corner, places.columns, bias, relu, y, choice);
      else if (choice)
        pool_window<Vectors, true>(row, column, places.columns, windows.width, corner, bias, relu, y, choice);
      else
        pool_window<Vectors, false>(row, column, places.columns, windows.width, corner, bias, relu, y,
                                    choice);
    }
  }
}

constexpr int kFusedVectors = HWY_MIN(kVectors, 2);
constexpr int kFusedWindows = kFusedVectors == 1 ? 2 : 1;

/// The largest of `Windows` whole 2×2 windows for `Vectors` vectors of filters, whose sums stay in registers:
/// x[i] is the first place of window i.
template <int Windows, int Vectors>
HWY_INLINE void multiply_and_pool(const float* const* x, const TiledPlaces& places,
                                  const float* HWY_RESTRICT w, bool relu, float* const* y,
                                  uint8_t* const* choice) {
  const Floats d;
  const float* rows[4 * Windows];
  Vector sums[4 * Windows][Vectors];
#pragma GCC unroll 8
  for (int i = 0; i < 4 * Windows; ++i) {
    rows[i] = x[i / 4] + i % 4 / 2 * places.row_step + i % 2 * places.column_step;
#pragma GCC unroll 2
    for (int j = 0; j < Vectors; ++j) sums[i][j] = hn::Zero(d);
  }
  for (int64_t t = 0; t < places.tap_count; ++t, w += kTiledFilters) {
    const int64_t tap = places.taps[t];
    Vector filters[Vectors];
#pragma GCC unroll 2
    for (int j = 0; j < Vectors; ++j) filters[j] = hn::Load(d, w + j * kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < 4 * Windows; ++i) {
      const Vector pixel = hn::Set(d, rows[i][tap]);
#pragma GCC unroll 2
      for (int j = 0; j < Vectors; ++j) sums[i][j] = hn::MulAdd(pixel, filters[j], sums[i][j]);
    }
  }
#pragma GCC unroll 2
  for (int i = 0; i < Windows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < Vectors; ++j) {
      const Vector window[4] = {sums[4 * i][j], sums[4 * i + 1][j], sums[4 * i + 2][j], sums[4 * i + 3][j]};
      store_largest_of_four(d, window, hn::Load(d, w + j * kLanes), relu, y[i] + j * kLanes,
                            moved(choice[i], j * kLanes));
    }
}

/// Whether all windows are 2×2, whole, and the filters fit into the first-level cache.
bool can_fuse(const TiledPlaces& places, const TiledWindows& windows) {
  if (windows.height != 2 || windows.width != 2 || places.tap_count > kTapsPerPass) return false;
  const auto whole = [](int64_t first, int64_t count, int64_t step, int64_t padding, int64_t begin,
                        int64_t size) {
    return first * step - padding >= begin && (first + count - 1) * step - padding + 2 <= begin + size;
  };
  return whole(windows.first_row, windows.rows, windows.row_step, windows.top, places.first_row,
               places.rows) &&
         whole(0, windows.columns, windows.column_step, windows.left, places.first_column, places.columns);
}

/// `Vectors` vectors of filters of all windows; a row's last windows are done twice where they do not fill a
/// tile.
template <int Windows, int Vectors>
void fuse_windows(const TiledPlaces& places, const TiledWindows& windows, const float* w, int64_t first,
                  const PooledBlock<kTiledFilters>& block) {
  const int64_t top = windows.first_row * windows.row_step - windows.top - places.first_row,
                left = -windows.left - places.first_column;
  for (int64_t p = 0; p < windows.rows; ++p) {
    const float* row = places.x + (top + p * windows.row_step) * places.row_step + left * places.column_step;
    for (int64_t q = 0; q < windows.columns; q += Windows) {
      const float* x[Windows];
      float* y[Windows];
      uint8_t* choice[Windows];
      for (int i = 0; i < Windows; ++i) {
        const int64_t column = HWY_MIN(q + i, windows.columns - 1);
        const int64_t offset = (p * windows.columns + column) * block.step + first;
        x[i] = row + column * windows.column_step * places.column_step;
        y[i] = block.y + offset, choice[i] = moved(block.choice, offset);
      }
      multiply_and_pool<Windows, Vectors>(x, places, w + first, block.output.relu, y, choice);
    }
  }
}

void run_fused(const TiledPlaces& places, const TiledWindows& windows, const TiledFilters& filters,
               const PooledBlock<kTiledFilters>& block) {
  if (kVectors > 1 && filters.count <= kLanes)
    return fuse_windows<2, 1>(places, windows, filters.w, 0, block);
  for (int64_t k = 0; k < filters.count; k += kFusedVectors * kLanes)
    fuse_windows<kFusedWindows, kFusedVectors>(places, windows, filters.w, k, block);
}

/// The same by way of results in memory.
void run_in_two_steps(const TiledPlaces& places, const TiledWindows& windows, const TiledFilters& filters,
                      const TiledScratch& scratch, const PooledBlock<kTiledFilters>& block) {
  list_offsets(places, scratch.offsets);
  const bool narrow = kVectors > 1 && filters.count <= kLanes;
  (narrow ? multiply_places<kNarrowTileRows, 1>
          : multiply_places<kTileRows, kVectors>)(places, scratch.offsets, filters.w, scratch.results);
  (narrow ? pool_places<1> : pool_places<kVectors>)(places, windows, scratch.results,
                                                    filters.w + places.tap_count * kTiledFilters, block);
}

void run(const TiledPlaces& places, const TiledWindows& windows, const TiledFilters& filters,
         int64_t first_window, const PooledOutput& output, void* memory) {
  const TiledScratch scratch(memory, places.rows * places.columns, windows.rows * windows.columns);
  PooledBlock<kTiledFilters> block{output,        first_window, filters.first,
                                   filters.count, scratch.y,    scratch.choice};
  block.place_in_output();
  if (can_fuse(places, windows))
    run_fused(places, windows, filters, block);
  else
    run_in_two_steps(places, windows, filters, scratch, block);
  block.copy_out(windows.rows * windows.columns);
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(run);

}  // namespace

int64_t tiled_scratch_size(int64_t places, int64_t windows) {
  const int64_t words = (places + kMostTileRows) * (kTiledFilters + 1) + windows * kTiledFilters;
  return words * int64_t(sizeof(float)) + windows * kTiledFilters;
}

void tiled_max_pool(const TiledPlaces& places, const TiledWindows& windows, const TiledFilters& filters,
                    int64_t first_window, const PooledOutput& output, void* scratch) {
  HWY_DYNAMIC_DISPATCH(run)(places, windows, filters, first_window, output, scratch);
}

}  // namespace treadle::cpu
#endif
