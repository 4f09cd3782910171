/// Two-dimensional convolution (cross-correlation, as in all neural-network libraries) and its gradients.
#pragma once  // public

#include "treadle/core/tensor.h"
#include "treadle/ops/conv2d/conv2d_options.h"

namespace treadle {

struct Op;

/// y[n,k,p,q] = Σ_{c,r,s} x[n,c,p·stride+r·dilation−padding,q·stride+s·dilation−padding] · w[k,c,r,s] + b[k];
/// x is 0 outside. With groups, filter k sees the channels of its group only.
/// x [N,C,H,W], w [K,C/groups,R,S], b [K] or none → y [N,K,P,Q], P = ⌊(H + pads − dilation·(R−1) − 1) /
/// stride⌋ + 1. y is channels-last where x is, else row-major. Half types accumulate in f32. Throws
/// ShapeError naming both shapes.
TREADLE_API Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor& b = {},
                          const Conv2dOptions& options = {});
/// The op itself.
TREADLE_API const Op& conv2d_op();

/// dx = ∂(Σ y·dy)/∂x: dy [N,K,P,Q], w [K,C/groups,R,S] → dx [N,C,H,W], with H, W and the layout from the
/// options.
TREADLE_API Tensor conv2d_input_gradient(const Tensor& dy, const Tensor& w,
                                         const Conv2dInputGradientOptions& options);
TREADLE_API const Op& conv2d_input_gradient_op();

/// dw = ∂(Σ y·dy)/∂w: x [N,C,H,W], dy [N,K,P,Q] → dw [K,C/groups,R,S], row-major, with R, S from the options.
TREADLE_API Tensor conv2d_weight_gradient(const Tensor& x, const Tensor& dy,
                                          const Conv2dWeightGradientOptions& options);
TREADLE_API const Op& conv2d_weight_gradient_op();

}  // namespace treadle
