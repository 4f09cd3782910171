/// Conversion between dtypes.
#pragma once  // public

#include "treadle/core/tensor.h"

namespace treadle {

struct Op;

/// y = x as `dtype`: rounds to nearest even, truncates floats towards zero for integers, maps non-zero to
/// true for bool. The tensor itself when it has that dtype.
TREADLE_API Tensor cast(const Tensor& x, DType dtype);
/// The op itself.
TREADLE_API const Op& cast_op();

}  // namespace treadle
