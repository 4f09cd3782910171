/// Two-dimensional average-pooling.
#pragma once  // public

#include "treadle/core/tensor.h"
#include "treadle/ops/pool2d/avg_pool2d_options.h"

namespace treadle {

/// y[n,c,p,q] = Σ_{r,s} x[n,c,p·stride+r−padding,q·stride+s−padding] / places, where x is 0 outside and
/// `places` is R·S, or the number of places inside x when the padding is not counted, or the divisor. x
/// [N,C,H,W] → y [N,C,P,Q], P = ⌊(H + pads − R) / stride⌋ + 1, laid out as x where x is channels-last or
/// row-major. Throws ShapeError. With ceil_padding() it is PyTorch's with ceil_mode.
TREADLE_API Tensor avg_pool2d(const Tensor& x, const AvgPool2dOptions& options = {});

/// dx[n,c,h,w] = Σ of dy / places over the windows that hold (h,w). dy [N,C,P,Q] → dx [N,C,H,W], with H, W
/// and the layout from the options.
TREADLE_API Tensor avg_pool2d_gradient(const Tensor& dy, const AvgPool2dGradientOptions& options);

/// The options with as much more padding below and on the right, not counted, as a last window needs that
/// begins in x [N,C,H,W] or in the padding before it: PyTorch's ceil_mode.
TREADLE_API AvgPool2dOptions ceil_padding(AvgPool2dOptions options, const Shape& x);

}  // namespace treadle
