/// The Kullback-Leibler divergence (On Information and Sufficiency, 1951) of logarithms of probabilities.
#pragma once  // public

#include <string>

#include "treadle/core/tensor.h"

namespace treadle {

/// loss = Σ t·(ln t - x) / n over all n elements, x = ln q; with `log_target` the target is ln t. Reduction
/// "batchmean" divides by the first extent, which gives the divergence KL(t ‖ q) of a batch of distributions;
/// "sum" does not divide, "none" gives each element's. A term is 0 where t is 0, NaN where it is negative. x
/// and target have one shape and floating dtype. Throws ShapeError, DTypeError, ValueError for an unknown
/// reduction.
TREADLE_API Tensor kl_div(const Tensor& x, const Tensor& target, const std::string& reduction = "mean",
                          bool log_target = false);

}  // namespace treadle
