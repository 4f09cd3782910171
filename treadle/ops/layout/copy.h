/// Copies: into another layout, into another tensor, to another device or dtype.
#pragma once  // public

#include "treadle/core/tensor.h"

namespace treadle {

struct Op;

/// x itself when it lies row-major, else a row-major copy.
TREADLE_API Tensor contiguous(const Tensor& x);
/// A copy; in x's layout when that has no gaps, else row-major.
TREADLE_API Tensor clone(const Tensor& x);
/// x [N,C,H,W] itself when its channels lie innermost, else a copy for which they do. Throws ShapeError for
/// other ranks.
TREADLE_API Tensor to_channels_last(const Tensor& x);
/// The op that all three call.
TREADLE_API const Op& copy_op();

/// Overwrites target's elements by source's, broadcast. Where the two may overlap in memory the result is as
/// if source had been copied before. Throws ShapeError when source does not broadcast to target's shape,
/// DTypeError when the dtypes differ, ValueError for a target that holds an element twice, as an expanded
/// one.
TREADLE_API void copy_into(const Tensor& target, const Tensor& source);
/// The op itself.
TREADLE_API const Op& copy_into_op();

/// x on a device; x itself when it is there. Keeps a layout without gaps. The gradient goes back to x's
/// device. Throws DeviceAbsent.
TREADLE_API Tensor to(const Tensor& x, Device device);
/// x as a dtype: cast.
TREADLE_API Tensor to(const Tensor& x, DType dtype);

}  // namespace treadle
