/// What the shape rules of ops on images say of a result.
#pragma once

#include "treadle/graph/spec.h"

namespace treadle {

/// An image in one of the two layouts.
inline TensorSpec image_spec(const Shape& shape, bool channels_last, DType dtype) {
  return {shape, channels_last ? channels_last_strides(shape) : contiguous_strides(shape), dtype, true};
}

}  // namespace treadle
