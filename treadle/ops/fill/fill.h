/// Tensors of one value or of evenly spaced values.
#pragma once  // public

#include "treadle/core/tensor.h"

namespace treadle {

struct Op;

/// Sets every element to `value`, converted to the dtype (truncated for integers). Integers beyond 2^53 are
/// not exact. Throws ValueError where an integer dtype does not hold the value: -1 as u8, NaN.
TREADLE_API void fill_(const Tensor& x, double value);
/// The op itself.
TREADLE_API const Op& fill_op();

/// A row-major tensor that has `value` everywhere. Throws what fill_() throws.
TREADLE_API Tensor full(const Shape& shape, double value, DType dtype = DType::f32, Device device = kCpu);
/// Of x's shape, dtype and device, and of its layout when that has no gaps.
TREADLE_API Tensor full_like(const Tensor& x, double value);
TREADLE_API Tensor zeros_like(const Tensor& x);
TREADLE_API Tensor ones_like(const Tensor& x);

/// start, start + step, … before end: ⌈(end - start) / step⌉ elements, each computed in double and then
/// converted. Throws ValueError for a step of 0 or one that leads away from end, numbers that are not finite
/// and elements that an integer dtype does not hold, DTypeError for bool.
TREADLE_API Tensor arange(double start, double end, double step = 1, DType dtype = DType::i64,
                          Device device = kCpu);
/// The op itself.
TREADLE_API const Op& arange_op();

}  // namespace treadle
