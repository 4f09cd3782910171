/// What attention and its gradient share: shapes, layouts and the scale.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "treadle/core/tensor_view.h"
#include "treadle/ops/attention/attention_options.h"

namespace treadle {

/// The factor of the scores of queries of that shape, [..., L, E].
inline double attention_scale(const AttentionOptions& options, const Shape& q) {
  return options.scale == 0 ? 1 / std::sqrt(std::max(double(q[-1]), 1.0)) : options.scale;
}

/// A shape with other extents at its end.
inline Shape ending_with(Shape shape, int64_t rows, int64_t columns) {
  shape[-2] = rows, shape[-1] = columns;
  return shape;
}

/// The same elements with the last two axes swapped.
inline TensorView matrices_transposed(TensorView view) {
  std::swap(view.shape[-2], view.shape[-1]);
  std::swap(view.strides[-2], view.strides[-1]);
  return view;
}

}  // namespace treadle
