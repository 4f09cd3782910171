/// Operands [N, C, …] and what belongs to their channels, in declarations of normalisations.
#pragma once

#include "treadle/core/error.h"
#include "treadle/core/tensor_view.h"
#include "treadle/graph/spec.h"

namespace treadle {

/// How many elements each channel of x [N, C, …] has in an image.
inline int64_t places_of(const Shape& x) {
  int64_t count = 1;
  for (int axis = 2; axis < x.rank(); ++axis) count *= x[axis];
  return count;
}

/// What broadcasts [C] along the channels of x [N, C, …]: [C, 1, …].
inline Shape channels_of(const Shape& x) {
  Shape shape = Dims::filled(x.rank() - 1, 1);
  shape[0] = x[1];
  return shape;
}

/// The axes that a sum for each channel goes over: all but 1.
inline Dims axes_but_channels(const Shape& x) {
  Dims axes = Dims::filled(x.rank() - 1, 0);
  for (int axis = 2; axis < x.rank(); ++axis) axes[axis - 1] = axis;
  return axes;
}

/// Throws ShapeError unless x has channels.
inline void require_channels(const char* op, const Shape& x) {
  require<ShapeError>(x.rank() >= 2, "{}: x has shape {}, expected [N, C, ...]", op, x);
}

/// Throws ShapeError unless the operand `name` is left out or has an element for each channel of x.
inline void require_of_channels(const char* op, const char* name, Specs inputs, size_t i, const Shape& x) {
  if (i >= inputs.size() || !inputs[i].defined) return;
  require<ShapeError>(inputs[i].shape == Shape{x[1]}, "{}: {} has shape {}, x {} expects [{}]", op, name,
                      inputs[i].shape, x, x[1]);
}

}  // namespace treadle
