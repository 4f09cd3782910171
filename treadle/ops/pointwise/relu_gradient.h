/// The gradient of relu, for ops that end in it and for whoever times it apart from a graph.
#pragma once  // public

#include "treadle/core/tensor.h"
#include "treadle/ops/pointwise/unary_functions.h"

namespace treadle {

/// dx = dy where y > 0, else 0; y = relu(x) and dy have one shape. Throws ShapeError, DTypeError.
TREADLE_API Tensor relu_gradient(const Tensor& y, const Tensor& dy);

}  // namespace treadle
