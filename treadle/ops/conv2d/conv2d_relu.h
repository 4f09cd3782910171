/// Two-dimensional convolution followed by ReLU, as one op.
#pragma once  // public

#include "treadle/core/tensor.h"
#include "treadle/ops/conv2d/conv2d_options.h"

namespace treadle {

struct Op;

/// y = max(conv2d(x, w, b), 0), element by element; see conv2d. NaN propagates, the derivative at 0 is 0. The
/// gradient needs x, w and y.
TREADLE_API Tensor conv2d_relu(const Tensor& x, const Tensor& w, const Tensor& b = {},
                               const Conv2dOptions& options = {});
/// The op itself.
TREADLE_API const Op& conv2d_relu_op();

}  // namespace treadle
