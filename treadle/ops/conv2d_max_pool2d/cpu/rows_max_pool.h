/// Convolution and 2×2 max-pooling in one for few channels and filters, in SIMD instructions chosen at run
/// time: a vector holds one filter's results for neighbouring windows, so that filters need not fill one.
#pragma once

#include <cstdint>

#include "treadle/ops/conv2d_max_pool2d/cpu/pooled_output.h"

namespace treadle::cpu {

/// A channel's pixels under some rows of windows, as kernels of a size and stride 1 see them: padded, and
/// taken apart so that windows which follow one another, through rows too, find their pixels side by side.
/// Pixel (2i + a, 2q + b) of the band is element i·columns + q of plane (a, b); a is 0 or 1, b is any column
/// of a kernel or one more.
struct WindowPlanes {
  int64_t kernel_rows, kernel_columns;
  int64_t rows, columns;  ///< windows

  /// Even, one more than needed where the kernel's are.
  int64_t pixel_rows() const { return 2 * (rows + kernel_rows / 2); }
  int64_t pixel_columns() const { return 2 * columns + kernel_columns - 1; }
  /// From one plane to the next, with room for a vector that sticks out.
  int64_t step() const { return (rows + kernel_rows / 2) * columns + kMostLanes; }
  int64_t planes() const { return 2 * (kernel_columns + 1); }
  int64_t size() const { return planes() * step(); }
  /// Floats of the pixels before they are taken apart.
  int64_t padded_size() const { return whole_vectors(pixel_rows() * pixel_columns() + 2 * kMostLanes); }

  static constexpr int64_t kMostLanes = 16;
  static constexpr int64_t whole_vectors(int64_t floats) {
    return (floats + kMostLanes - 1) / kMostLanes * kMostLanes;
  }
};

/// An image, and the row (above it where negative) and column of the first pixel that is looked at.
struct WindowImage {
  const float* x;
  int64_t channels, height, width;
  int64_t channel_step, row_step, column_step;
  int64_t top, left;
};

/// Floats of scratch, aligned to 64.
int64_t rows_scratch_size(int64_t channels, const WindowPlanes& planes);

/// Floats of filters: [channel][row][column][filter], then one bias number for each, then zeros.
constexpr int64_t rows_filters_size(int64_t taps, int64_t filters) {
  return WindowPlanes::whole_vectors((taps + 1) * filters);
}

/// All windows of `planes`, the first of which is number `first_window` through all images; `w` as above.
void rows_max_pool(const WindowImage& image, const WindowPlanes& planes, const float* w, int64_t filters,
                   int64_t first_window, const PooledOutput& output, float* scratch);

}  // namespace treadle::cpu
