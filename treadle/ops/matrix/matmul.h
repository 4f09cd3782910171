/// Matrix product.
#pragma once  // public

#include "treadle/core/tensor.h"

namespace treadle {

struct Op;

/// c[…,m,n] = Σ_k a[…,m,k] · b[…,k,n]. a [..., M, K], b [..., K, N] → c [..., M, N], row-major; the axes
/// before the last two broadcast. A vector as `a` is a row, as `b` a column, and its axis is not in the
/// result, as in NumPy. Operands are read where they lie: a transposed view costs no copy. Half types
/// accumulate in f32, f32 in f32 without TF32. Throws ShapeError naming both shapes, DTypeError unless both
/// have the same floating dtype.
TREADLE_API Tensor matmul(const Tensor& a, const Tensor& b);
/// The op itself.
TREADLE_API const Op& matmul_op();

}  // namespace treadle
