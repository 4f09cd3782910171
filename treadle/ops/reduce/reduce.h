/// Reductions over any axes, and the sum that undoes broadcasting.
#pragma once  // public

#include "treadle/core/tensor.h"

namespace treadle {

struct Op;

/// Sums over `axes` (negative count from the end; none means all). With `keep_axes` they stay as extents
/// of 1. Integers sum in i64. An empty sum is 0. Throws ShapeError for an axis out of range or named twice.
TREADLE_API Tensor sum(const Tensor& x, const Dims& axes = {}, bool keep_axes = false);
/// The op itself.
TREADLE_API const Op& sum_op();
/// Sum divided by the number of elements, NaN for none; throws DTypeError unless x is floating.
TREADLE_API Tensor mean(const Tensor& x, const Dims& axes = {}, bool keep_axes = false);
TREADLE_API const Op& mean_op();
/// Largest element; NaN propagates; the gradient goes to the first maximum. Throws ShapeError when there is
/// none.
TREADLE_API Tensor max(const Tensor& x, const Dims& axes = {}, bool keep_axes = false);
/// Smallest element; NaN propagates; the gradient goes to the first minimum. Throws ShapeError when there is
/// none.
TREADLE_API Tensor min(const Tensor& x, const Dims& axes = {}, bool keep_axes = false);
/// The op of both gradients.
TREADLE_API const Op& extremum_gradient_op();
/// Index (i64) of the first largest element along one axis, or of all elements in row-major order.
TREADLE_API Tensor argmax(const Tensor& x, int64_t axis, bool keep_axis = false);
TREADLE_API Tensor argmax(const Tensor& x);

/// Sums x over the axes along which `shape` was broadcast to x's shape; x itself when the shapes are equal.
TREADLE_API Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace treadle
