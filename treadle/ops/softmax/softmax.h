/// Softmax and its logarithm along one axis, computed from x minus its maximum, so that no exponential
/// overflows.
#pragma once  // public

#include "treadle/core/tensor.h"

namespace treadle {

struct Op;

/// y = e^x / Σ e^x along `axis` (negative counts from the end); y has x's shape and layout. Floating dtypes.
/// Throws ShapeError for an axis out of range.
TREADLE_API Tensor softmax(const Tensor& x, int64_t axis = -1);
/// The op itself.
TREADLE_API const Op& softmax_op();
/// dx from y = softmax(x) and dy.
TREADLE_API Tensor softmax_gradient(const Tensor& y, const Tensor& dy, int64_t axis = -1);
TREADLE_API const Op& softmax_gradient_op();

/// y = x - log Σ e^x along `axis`.
TREADLE_API Tensor log_softmax(const Tensor& x, int64_t axis = -1);

}  // namespace treadle
