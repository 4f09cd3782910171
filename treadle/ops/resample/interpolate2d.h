/// Images of another size: interpolation, and average-pooling to any size.
#pragma once  // public

#include "treadle/core/tensor.h"
#include "treadle/ops/resample/interpolate2d_options.h"

namespace treadle {

/// x [N,C,H,W] → y [N,C,P,Q], laid out as x where x is channels-last or row-major; rows and columns apart.
/// Along an axis y[p] is, by mode,
///   nearest   x[⌊p·H/P⌋]
///   bilinear  (1 - f)·x[⌊s⌋] + f·x[⌊s⌋ + 1], f the fraction of s = max((p + ½)·H/P - ½, 0), or of
///             p·(H - 1)/(P - 1) where corners are aligned; places beyond the end are the last one
///   area      the mean of x[⌊p·H/P⌋ … ⌈(p + 1)·H/P⌉ - 1]
/// as in PyTorch's F.interpolate, but that fractions are exact there where floats would round them. Throws
/// ShapeError, ValueError for another mode.
TREADLE_API Tensor interpolate2d(const Tensor& x, const InterpolateOptions& options);

/// dx of interpolate2d from dy [N,C,P,Q], with H, W and the layout from the options.
TREADLE_API Tensor interpolate2d_gradient(const Tensor& dy, const InterpolateGradientOptions& options);

/// interpolate2d by area: by mean() for a size of 1, and by avg_pool2d() where the size divides x's.
TREADLE_API Tensor adaptive_avg_pool2d(const Tensor& x, Pair size);

}  // namespace treadle
