/// The gradient of layer_norm as an op of its own.
#pragma once

#include "treadle/core/tensor.h"
#include "treadle/ops/norm/layer_norm.h"

namespace treadle {

struct LayerNormGradients {
  Tensor x, w, b;
};

/// Of layer_norm(x, w, b): with n = (x - mean) / σ, σ = √(variance + ε), and dn = dy·w, along each row
/// dx = (dn - mean(dn) - n·mean(dn·n)) / σ, and over all rows dw = Σ dy·n, db = Σ dy.
LayerNormGradients layer_norm_gradient(const Tensor& dy, const Tensor& x, const Tensor& w,
                                       const LayerNormOptions& options);

}  // namespace treadle
