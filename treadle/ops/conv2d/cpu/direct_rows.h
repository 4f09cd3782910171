/// Convolution of channels-last images of few channels: the products of a window's row follow one another in
/// memory, so that windows are multiplied where they lie, and not gathered first. In SIMD instructions chosen
/// at run time.
#pragma once

#include <cstdint>

namespace treadle::cpu {

/// Filters are padded with zeros to a multiple of this.
inline constexpr int64_t kDirectFilters = 16;

/// One row of results, y[q·K + k] = Σ_r Σ_j rows[r·row + q·step + j] · w[(r·length + j)·padded + k] +
/// bias[k].
struct DirectRow {
  int64_t R, length;     ///< rows of a window, and floats of each
  int64_t Q, K, padded;  ///< results; filters, and the same as a multiple of kDirectFilters
  const float* rows;     ///< of the image, with its padding
  int64_t row, step;     ///< floats from row to row, from window to window
  const float* w;
  const float* bias;  ///< [padded]
  float* y;
  bool relu;
};
void direct_row(const DirectRow& row);

}  // namespace treadle::cpu
