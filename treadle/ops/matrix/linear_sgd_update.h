/// The gradient of a linear layer's parameters and plain SGD in one pass over them.
#pragma once  // public

#include "treadle/core/tensor.h"
#include "treadle/ops/matrix/linear_options.h"

namespace treadle {

/// In place: w -= rate·(dyᵀ·x + weight_decay·w), b -= rate·(Σ_n dy + weight_decay·b), without a gradient in
/// memory. x [N, in], dy [N, out], w [out, in], b [out] or none, of one floating dtype; `state` is an f64
/// tensor [2] on the same device, of which the first number is the rate (the second counts steps and is not
/// read). Throws ShapeError, DTypeError.
///
/// In f32 the cpu's variant "panels" gives the bits of linear_weight_gradient's "panels" followed by
/// sgd_update's formula, p - rate·(g + weight_decay·p), rounded after each operation. Other variants differ
/// from the two steps: gradients of half types are not rounded before they are used, and the compiler may
/// contract a product and a sum; with S the sum of |dy·x|, the two results are apart by at most 2u·(rate·((N
/// + 3)·S + 3 weight_decay·|p|) + |p|), u the unit roundoff, plus rate·u·|g| of the dtype for half types.
TREADLE_API void linear_sgd_update(const Tensor& x, const Tensor& dy, const Tensor& state, const Tensor& w,
                                   const Tensor& b = {}, const LinearSgdUpdateOptions& options = {});

}  // namespace treadle
