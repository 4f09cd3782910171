/// Softmax cross-entropy with integer labels.
#pragma once  // public

#include <string>

#include "treadle/core/tensor.h"

namespace treadle {

/// loss_n = log Σ_c e^x[n,c] - x[n, labels[n]], from x minus its maximum, so that no exponential overflows.
///
/// x [N,C] floating, labels [N] i64 or i32 in [0, C). `reduction`: "mean" over the N samples or "sum" give a
/// tensor of rank 0, "none" gives [N]. The mean over no samples is NaN. Throws ShapeError, DTypeError,
/// ValueError for an unknown reduction, and for a label out of range: at the call, on a GPU where the host
/// next waits for the device, as reading the loss does; such a sample's loss is NaN there.
TREADLE_API Tensor cross_entropy(const Tensor& x, const Tensor& labels,
                                 const std::string& reduction = "mean");

struct LossWithGradient {
  Tensor loss, dx;
};

/// The same loss with its gradient dx [N,C] in one pass: what backward() gives x for an upstream gradient of
/// 1, with the same bits; for reduction "none" the gradient of the sum. The loss itself has no gradient.
TREADLE_API LossWithGradient cross_entropy_with_gradient(const Tensor& x, const Tensor& labels,
                                                         const std::string& reduction = "mean");

}  // namespace treadle
