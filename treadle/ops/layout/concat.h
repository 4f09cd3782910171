/// concat: tensors one after another along an axis.
#pragma once  // public

#include <vector>

#include "treadle/core/tensor.h"

namespace treadle {

/// y[…, offset_k + i, …] = tensors[k][…, i, …]. The shapes agree except along `axis`. Channels-last when all
/// inputs are. Throws ValueError for no tensors, ShapeError naming two shapes that do not fit, DTypeError for
/// mixed dtypes; under Autocast f32 and half types become f32.
TREADLE_API Tensor concat(const std::vector<Tensor>& tensors, int64_t axis = 0);

}  // namespace treadle
