/// Cross-entropy of two classes, from logits.
#pragma once  // public

#include <string>

#include "treadle/core/tensor.h"

namespace treadle {

/// loss = -Σ w·(p·t·ln σ(x) + (1 - t)·ln(1 - σ(x))) / n over all n elements, σ the logistic function; "sum"
/// does not divide, "none" gives each element's. Computed as (1 - t)·x + (1 - t + p·t)·softplus(-x), which
/// neither overflows nor loses small probabilities. x and target t, in [0, 1], have one shape; the weight w
/// and that of positive targets, p, broadcast to it, or are undefined (1). One floating dtype. Throws
/// ShapeError, DTypeError, ValueError for an unknown reduction.
TREADLE_API Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target,
                                                    const Tensor& weight = {}, const Tensor& pos_weight = {},
                                                    const std::string& reduction = "mean");

}  // namespace treadle
