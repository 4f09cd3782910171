/// Affine map of the last axis: the arithmetic of a fully connected layer.
#pragma once

#include "treadle/core/tensor.h"

namespace treadle {

/// y[…,o] = Σ_i x[…,i] · w[o,i] + b[o]. x [..., in] of rank ≥ 1, w [out, in], b [out] or none → y [..., out],
/// row-major. Half types accumulate in f32. Throws ShapeError naming both shapes, DTypeError unless all have
/// the same floating dtype.
TREADLE_API Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b = {});

}  // namespace treadle
