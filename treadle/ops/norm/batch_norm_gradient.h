/// The gradient of batch_norm as an op of its own.
#pragma once

#include "treadle/core/tensor.h"
#include "treadle/ops/norm/batch_norm_options.h"

namespace treadle {

struct Op;

/// Where dz and Σ dx are among the op's outputs, behind dx, dw and db; 0: they are not. `y`: it is given.
struct BatchNormGradientPlaces {
  BatchNormGradientPlaces(const BatchNormGradientOptions& options, bool y)
      : dz(options.residual && (y || options.relu) ? 3 : 0), sum(options.sum ? dz ? 4 : 3 : 0) {}
  int dz, sum;
};

struct BatchNormGradients {
  Tensor x, w, b, residual;
};

/// Of batch_norm(x, w, …) whose results were mean, variance and, where it ended in ReLU, y (else undefined):
/// dz = dy where y > 0, n = (x - mean) / σ with σ = √(variance + ε), and over each channel's M elements
/// dw = Σ dz·n, db = Σ dz, dx = (dz - db/M - n·dw/M) / σ · w. The residual's gradient is dz, where
/// options.residual asks for it. w may be undefined (1).
///
/// Of a ReLU without a residual, where options.relu is set, y is left out and found anew from x, w and b (or
/// 0): what was positive is known without reading y, which counts where memory is what takes the time.
///
/// Programs have the op make Σ dx over each channel, too, where x is a convolution with a bias: its gradient.
BatchNormGradients batch_norm_gradient(const Tensor& dy, const Tensor& x, const Tensor& mean,
                                       const Tensor& variance, const Tensor& w, const Tensor& y,
                                       const Tensor& b, const BatchNormGradientOptions& options);
/// The op itself.
const Op& batch_norm_gradient_op();

}  // namespace treadle
