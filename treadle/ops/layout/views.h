/// Views: the same elements under another shape. Only reshape and flatten may have to copy.
#pragma once  // public

#include <cstdint>
#include <limits>

#include "treadle/core/tensor.h"

namespace treadle {

/// The elements in row-major order under another shape; one extent may be -1 and follows from the others. A
/// view where the strides allow it, else a copy. Throws ShapeError when the number of elements differs.
TREADLE_API Tensor reshape(const Tensor& x, const Shape& shape);
/// Merges the axes from `start_axis` on: [N,C,H,W] → [N, C·H·W] for 1.
TREADLE_API Tensor flatten(const Tensor& x, int64_t start_axis = 1);
/// Removes an axis of extent 1. Throws ShapeError for another extent.
TREADLE_API Tensor squeeze(const Tensor& x, int64_t axis);
/// Inserts an axis of extent 1 before `axis` of the result.
TREADLE_API Tensor unsqueeze(const Tensor& x, int64_t axis);

/// Axis i of the result is axis axes[i] of x. Throws ShapeError unless `axes` names every axis once.
TREADLE_API Tensor permute(const Tensor& x, const Dims& axes);
/// Swaps two axes.
TREADLE_API Tensor transpose(const Tensor& x, int64_t a, int64_t b);
/// Elements begin, begin + step, … before end along an axis. Negative positions count from the end, and
/// positions outside are clamped, as in Python. Throws ValueError unless step ≥ 1.
TREADLE_API Tensor slice(const Tensor& x, int64_t axis, int64_t begin,
                         int64_t end = std::numeric_limits<int64_t>::max(), int64_t step = 1);
/// Repeats x along axes of extent 1 and new leading axes, without a copy (strides of 0). Throws ShapeError
/// when x does not broadcast to `shape`.
TREADLE_API Tensor expand(const Tensor& x, const Shape& shape);

/// Channels as places of larger images: y[n,c,h·r+i,w·r+j] = x[n,c·r²+i·r+j,h,w] for a factor r. x
/// [N,C·r²,H,W] → y [N,C,H·r,W·r], a row-major copy. Shi et al., Real-Time Single Image and Video
/// Super-Resolution Using an Efficient Sub-Pixel Convolutional Neural Network, 2016. Throws ShapeError.
TREADLE_API Tensor pixel_shuffle(const Tensor& x, int64_t factor);
/// The way back: [N,C,H·r,W·r] → [N,C·r²,H,W].
TREADLE_API Tensor pixel_unshuffle(const Tensor& x, int64_t factor);

}  // namespace treadle
