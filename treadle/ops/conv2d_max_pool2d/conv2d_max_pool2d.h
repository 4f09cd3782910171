/// Convolution, bias, max-pooling and ReLU as one op, and its gradients straight from the pooled gradient.
#pragma once  // public

#include "treadle/core/tensor.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d_options.h"

namespace treadle {

struct Op;

struct Conv2dMaxPool2dResult {
  Tensor y;
  /// u8 [N,K,P,Q], laid out as y: which place of the pooling window gave y, r·width + s; kNoChoice where no
  /// gradient flows back: ReLU is closed (y ≤ 0 or NaN), or the window holds no place. Undefined without the
  /// option `choice`.
  Tensor choice;
};

/// y = relu(max_pool2d(conv2d(x, w, b))), or without relu. x [N,C,H,W], w [K,C/groups,R,S], b [K] or none →
/// y [N,K,P,Q]. The pooling window holds at most 254 places and has no dilation. y is channels-last where x
/// is and `row_major` is not set. A variant that rounds differently (Winograd) may choose another place among
/// values that are equal within its error. NaN propagates. Throws ShapeError naming both shapes; backward()
/// throws AutogradError without the option `choice`.
TREADLE_API Conv2dMaxPool2dResult conv2d_max_pool2d(const Tensor& x, const Tensor& w, const Tensor& b = {},
                                                    const Conv2dMaxPool2dOptions& options = {});
/// The op itself.
TREADLE_API const Op& conv2d_max_pool2d_op();

/// dx of conv2d_max_pool2d given its own choice: dy, choice [N,K,P,Q], w [K,C/groups,R,S] → dx [N,C,H,W],
/// with H, W and the layout from the options. Each dy goes back through one place of its window only.
TREADLE_API Tensor conv2d_max_pool2d_input_gradient(const Tensor& dy, const Tensor& choice, const Tensor& w,
                                                    const Conv2dMaxPool2dInputGradientOptions& options);
TREADLE_API const Op& conv2d_max_pool2d_input_gradient_op();

struct Conv2dMaxPool2dWeightGradient {
  Tensor dw;  ///< [K,C/groups,R,S], row-major
  Tensor db;  ///< [K]
};
/// dw and db of conv2d_max_pool2d given its own choice: x [N,C,H,W], dy, choice [N,K,P,Q].
TREADLE_API Conv2dMaxPool2dWeightGradient
conv2d_max_pool2d_weight_gradient(const Tensor& x, const Tensor& dy, const Tensor& choice,
                                  const Conv2dMaxPool2dWeightGradientOptions& options);
TREADLE_API const Op& conv2d_max_pool2d_weight_gradient_op();

}  // namespace treadle
