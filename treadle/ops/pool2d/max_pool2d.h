/// Two-dimensional max-pooling.
#pragma once  // public

#include "treadle/core/tensor.h"
#include "treadle/ops/pool2d/max_pool2d_options.h"

namespace treadle {

struct Op;

/// y[n,c,p,q] = max_{r,s} x[n,c,p·stride+r·dilation−padding,q·stride+s·dilation−padding] over the places
/// inside x. x [N,C,H,W] → y [N,C,P,Q], P = ⌊(H + pads − dilation·(R−1) − 1) / stride⌋ + 1, laid out as x
/// where x is channels-last or row-major. NaN propagates; among equal values the first of the window, row by
/// row, gets the gradient. A window without a place inside x gives −∞. Throws ShapeError.
TREADLE_API Tensor max_pool2d(const Tensor& x, const MaxPool2dOptions& options = {});
/// The op itself.
TREADLE_API const Op& max_pool2d_op();

struct MaxPool2dResult {
  Tensor y;
  Tensor positions;  ///< i32 [N,C,P,Q]: h·W + w of the maximum in x, −1 for a window without a place inside x
};
/// The same with the positions of the maxima.
TREADLE_API MaxPool2dResult max_pool2d_with_positions(const Tensor& x, const MaxPool2dOptions& options = {});

/// dx[n,c,h,w] = Σ of dy over the windows that hold (h,w) and whose position is h·W + w; a position outside
/// its window is ignored. dy [N,C,P,Q], positions i32 [N,C,P,Q] → dx [N,C,H,W], with H, W and the layout from
/// the options.
TREADLE_API Tensor max_pool2d_gradient(const Tensor& dy, const Tensor& positions,
                                       const MaxPool2dGradientOptions& options);

/// The options with as much more padding below and on the right as a last window needs that begins in x
/// [N,C,H,W] or in the padding before it: PyTorch's ceil_mode.
TREADLE_API MaxPool2dOptions ceil_padding(MaxPool2dOptions options, const Shape& x);

/// max_pool2d over ⌊p·H/P⌋ … ⌈(p + 1)·H/P⌉ - 1 and the same columns, for any size P×Q. Where that does not
/// divide x's, windows are first copied one beside the other. Throws ShapeError.
TREADLE_API Tensor adaptive_max_pool2d(const Tensor& x, Pair size);

}  // namespace treadle
