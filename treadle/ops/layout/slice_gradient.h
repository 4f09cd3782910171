/// The gradient of slice: elements written into zeros.
#pragma once  // public

#include <cstdint>

#include "treadle/core/tensor.h"

namespace treadle {

struct SliceGradientOptions {
  int64_t axis = 0, begin = 0, step = 1, extent = 0;
  template <class Field>
  static void describe(Field& field) {
    field("axis", &SliceGradientOptions::axis, "the axis, negative from the end");
    field("begin", &SliceGradientOptions::begin, "position of the first element");
    field("step", &SliceGradientOptions::step, "distance of positions, at least 1");
    field("extent", &SliceGradientOptions::extent, "extent of the result along the axis");
  }
};

/// dx[…, begin + i·step, …] = dy[…, i, …] and 0 elsewhere; dx has `extent` elements along the axis. Throws
/// ShapeError when the elements of dy do not fit.
TREADLE_API Tensor slice_gradient(const Tensor& dy, const SliceGradientOptions& options);

}  // namespace treadle
