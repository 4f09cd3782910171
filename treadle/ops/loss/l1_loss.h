/// Mean absolute error.
#pragma once  // public

#include <string>

#include "treadle/core/tensor.h"

namespace treadle {

/// loss = Σ |x - target| / n over all n elements; "sum" does not divide, "none" gives |x - target| element by
/// element. The gradient is 0 where both are equal. x and target have one shape and floating dtype. Throws
/// ShapeError, DTypeError, ValueError for an unknown reduction.
TREADLE_API Tensor l1_loss(const Tensor& x, const Tensor& target, const std::string& reduction = "mean");

}  // namespace treadle
