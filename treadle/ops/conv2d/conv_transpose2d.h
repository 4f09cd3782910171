/// Transposed two-dimensional convolution.
#pragma once  // public

#include "treadle/core/tensor.h"
#include "treadle/ops/conv2d/conv2d_options.h"

namespace treadle {

/// The map that takes the gradient of conv2d's result to that of its operand, plus a bias:
/// y[n,c,p·stride+r·dilation−padding,q·stride+s·dilation−padding] = Σ x[n,k,p,q] · w[k,c,r,s] + b[c] over all
/// k, p, q, r, s that lead there. x [N,K,P,Q], w [K,C/groups,R,S], b [C] or none → y [N,C,H,W], H = (P −
/// 1)·stride − pads + dilation·(R − 1) + 1 + output_padding, laid out as x where x is channels-last or
/// row-major. With groups, channel k of x meets the channels of its group only. Throws ShapeError.
TREADLE_API Tensor conv_transpose2d(const Tensor& x, const Tensor& w, const Tensor& b = {},
                                    const ConvTranspose2dOptions& options = {});

}  // namespace treadle
