/// Places around a tensor.
#pragma once  // public

#include "treadle/core/tensor.h"
#include "treadle/ops/layout/pad_options.h"

namespace treadle {

/// x with before[i] places before axis i and after[i] behind it, which hold the value; laid out as x where x
/// is channels-last or row-major. Floating dtypes. Throws ShapeError unless there are two numbers for each
/// axis, none of them negative.
TREADLE_API Tensor pad(const Tensor& x, const PadOptions& options);

/// The same with x mirrored at its first and last place, which is not repeated: 3 2 1 2 3 2 1 of 1 2 3 with 2
/// places on both sides. Throws ShapeError as pad(), and where an axis has no more places than are added to a
/// side of it.
TREADLE_API Tensor pad_reflect(const Tensor& x, const Dims& before, const Dims& after);
/// The same with the first and the last place repeated. Throws ShapeError as pad(), and for an axis without
/// places.
TREADLE_API Tensor pad_replicate(const Tensor& x, const Dims& before, const Dims& after);

}  // namespace treadle
