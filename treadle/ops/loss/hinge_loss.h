/// The hinge loss of two classes (Cortes and Vapnik, Support-Vector Networks, 1995).
#pragma once  // public

#include <string>

#include "treadle/core/tensor.h"

namespace treadle {

/// loss = Σ max(0, 1 - target·x) / n over all n elements; "sum" does not divide, "none" gives each element's.
/// Targets are -1 and 1, of x's shape and floating dtype; others scale x. The gradient is 0 from a margin of
/// 1 on. Throws ShapeError, DTypeError, ValueError for an unknown reduction.
TREADLE_API Tensor hinge_loss(const Tensor& x, const Tensor& target, const std::string& reduction = "mean");

}  // namespace treadle
