/// index_select: picks positions along an axis, as an embedding does with rows.
#pragma once  // public

#include <cstdint>

#include "treadle/core/tensor.h"

namespace treadle {

struct Op;

/// y[…, i, …] = x[…, indices[i], …]; indices [n] of i64 or i32, in [0, extent). An index out of range throws
/// ValueError naming it and the extent: at the call, on a GPU where the host next waits for the device, as
/// reading a result does; what the call wrote is then worthless.
TREADLE_API Tensor index_select(const Tensor& x, int64_t axis, const Tensor& indices);

/// The op itself.
TREADLE_API const Op& index_select_op();

/// y[m,k] = x[m, positions[m,k]]: x [M,R], positions [M,K] of integers in [0, R).
TREADLE_API Tensor elements_of_rows(const Tensor& x, const Tensor& positions);

/// Its gradient: dx[…, j, …] = Σ dy[…, i, …] over all i with indices[i] = j, summed in the order of i; dx has
/// `extent` elements along the axis. Errors as above.
TREADLE_API Tensor index_select_gradient(const Tensor& dy, int64_t axis, const Tensor& indices,
                                         int64_t extent);

}  // namespace treadle
