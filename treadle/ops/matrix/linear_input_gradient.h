/// The gradient of a linear layer's input, where that is the result of a ReLU.
#pragma once  // public

#include "treadle/core/tensor.h"

namespace treadle {

/// dx = relu_gradient(x, dy·w): dx[n,i] = Σ_o dy[n,o] · w[o,i] where x[n,i] > 0 or NaN, else 0. dy [N, out],
/// w [out, in], x [N, in] → dx [N, in], row-major. What is left out is not multiplied by zero: where x is 0,
/// dx is 0 even if dy or w are not finite. This is the gradient that arrives before a ReLU whose result was
/// x. Half types accumulate in f32. Throws ShapeError, DTypeError unless all have the same floating dtype.
TREADLE_API Tensor linear_input_gradient(const Tensor& dy, const Tensor& w, const Tensor& x);

}  // namespace treadle
