/// Affine map of the last axis: the arithmetic of a fully connected layer.
#pragma once  // public

#include "treadle/core/tensor.h"
#include "treadle/ops/matrix/linear_options.h"

namespace treadle {

struct Op;

/// y[…,o] = Σ_i x[…,i] · w[o,i] + b[o]. x [..., in] of rank ≥ 1, w [out, in], b [out] or none → y [..., out],
/// row-major. Half types accumulate in f32. Throws ShapeError naming both shapes, DTypeError unless all have
/// the same floating dtype.
TREADLE_API Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b = {});
/// The op itself.
TREADLE_API const Op& linear_op();

/// y = max(linear(x, w, b), 0) for x [N, in]. NaN propagates, the derivative at 0 is 0. The gradient needs x,
/// w and y.
TREADLE_API Tensor linear_relu(const Tensor& x, const Tensor& w, const Tensor& b = {});

struct LinearWeightGradient {
  Tensor dw;  ///< [out, in], row-major or, if options.transposed, with strides (1, out)
  Tensor db;  ///< [out]; undefined unless options.bias
};
/// dw = dyᵀ·x and db = Σ_n dy: x [N, in], dy [N, out]. Throws ShapeError, DTypeError.
TREADLE_API LinearWeightGradient linear_weight_gradient(const Tensor& x, const Tensor& dy,
                                                        const LinearWeightGradientOptions& options = {});

}  // namespace treadle
