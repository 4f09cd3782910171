/// pick: each sample's element of its class.
#pragma once  // public

#include <cstdint>

#include "treadle/core/tensor.h"

namespace treadle {

struct Op;

/// y[n] = x[n, labels[n]], or 0 where labels[n] is `ignore_index`: x [N, C] floating, labels [N] i64 or i32
/// in [0, C) → y [N]. Throws ShapeError, DTypeError, and ValueError for another label: at the call, on a GPU
/// where the host next waits for the device; such a sample's element is NaN there.
TREADLE_API Tensor pick(const Tensor& x, const Tensor& labels, int64_t ignore_index = -100);
/// Its gradient: dx[n, labels[n]] = dy[n], and 0 elsewhere, for `classes` classes.
TREADLE_API Tensor pick_gradient(const Tensor& dy, const Tensor& labels, int64_t classes,
                                 int64_t ignore_index = -100);
/// The op itself.
TREADLE_API const Op& pick_op();

}  // namespace treadle
