/// Mean squared error.
#pragma once  // public

#include <string>

#include "treadle/core/tensor.h"

namespace treadle {

/// loss = Σ (x - target)² / n over all n elements; "sum" does not divide, "none" gives (x - target)² element
/// by element. x and target have one shape and floating dtype. Throws ShapeError, DTypeError, ValueError for
/// an unknown reduction.
TREADLE_API Tensor mse(const Tensor& x, const Tensor& target, const std::string& reduction = "mean");

}  // namespace treadle
