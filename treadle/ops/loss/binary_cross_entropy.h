/// Cross-entropy of two classes, from probabilities.
#pragma once  // public

#include <string>

#include "treadle/core/tensor.h"

namespace treadle {

/// loss = -Σ w·(t·ln x + (1 - t)·ln(1 - x)) / n over all n elements; "sum" does not divide, "none" gives each
/// element's. Logarithms below -100 count as -100, as in PyTorch, and x·(1 - x) in the gradient is at least
/// 1e-12. x and target t, probabilities in [0, 1], have one shape; w broadcasts to it, or is undefined (1).
/// The loss of an x outside is NaN. One floating dtype. Throws ShapeError, DTypeError, ValueError for an
/// unknown reduction.
TREADLE_API Tensor binary_cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weight = {},
                                        const std::string& reduction = "mean");

}  // namespace treadle
