/// Convolution and max-pooling in one as plain sums of products, in SIMD instructions chosen at run time: any
/// window, stride and padding. Some rows of the convolution's result for one block of filters at a time stay
/// in the first-level cache and are pooled from there.
#pragma once

#include <cstdint>

#include "treadle/ops/conv2d_max_pool2d/cpu/pooled_output.h"

namespace treadle::cpu {

/// Filters are worked on in blocks of so many.
inline constexpr int64_t kTiledFilters = 16;

/// A rectangle of the convolution's result: `rows` × `columns` places from (first_row, first_column) on. The
/// taps of place (i, j) of it lie at x[i·row_step + j·column_step + taps[t]].
struct TiledPlaces {
  const float* x;
  const int32_t* taps;
  int64_t tap_count;
  int64_t first_row, first_column, rows, columns;
  int64_t row_step, column_step;
};

/// `rows` × `columns` pooling windows, the first at window row first_row; what of them lies outside the
/// rectangle of places counts as outside the convolution's result.
struct TiledWindows {
  int64_t height, width;  ///< places of a window
  int64_t row_step, column_step;
  int64_t top, left;  ///< padding of the pooling
  int64_t first_row, rows, columns;
};

/// Up to kTiledFilters filters of one group: `w` is [tap][kTiledFilters], then as many bias numbers. What
/// is beyond `count` is zero.
struct TiledFilters {
  const float* w;
  int64_t first, count;
};

/// Floats of a TiledFilters block.
constexpr int64_t tiled_block_size(int64_t taps) { return (taps + 1) * kTiledFilters; }

/// Bytes of scratch, aligned to 64, for so many places and windows.
int64_t tiled_scratch_size(int64_t places, int64_t windows);

/// The results of one block of filters; `first_window` numbers the first window through all images.
void tiled_max_pool(const TiledPlaces& places, const TiledWindows& windows, const TiledFilters& filters,
                    int64_t first_window, const PooledOutput& output, void* scratch);

}  // namespace treadle::cpu
