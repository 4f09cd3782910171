/// Rows of an image with the padding that windows reach, so that no window has a border.
#pragma once

#include <algorithm>

#include "treadle/ops/conv2d/conv2d_geometry.h"
#include "treadle/ops/conv2d/cpu/convolution_tasks.h"

namespace treadle {

/// Copies the rows of image n under rows [begin, end) of results, channels-last, of `width` pixels with their
/// padding; `size` floats from row to row, what lies behind the pixels being 0.
inline void copy_padded_rows(const Conv2dGeometry& g, const float* x, int64_t n, WindowRange rows,
                             int64_t width, int64_t size, float* copy) {
  const int64_t left = g.padding.width, end = std::min(width - left, g.W);  // behind the last copied pixel
  for (int64_t h = g.row(rows.begin, 0); h <= g.row(rows.end - 1, g.R - 1); ++h, copy += size) {
    if (h < 0 || h >= g.H || end <= 0) {
      std::fill_n(copy, size, 0.0f);
      continue;
    }
    std::fill_n(copy, left * g.C, 0.0f);
    copy_pixels(x + g.x.at(n, 0, h, 0), g.x.strides[1], g.x.strides[3], end, g.C, copy + left * g.C);
    std::fill(copy + (left + end) * g.C, copy + size, 0.0f);
  }
}

}  // namespace treadle
