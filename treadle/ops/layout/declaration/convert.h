/// Operands as bodies of ops need them: of one dtype, row-major; and numbers.
#pragma once

#include "treadle/graph/composition.h"

namespace treadle {

/// What cast is told; made once, so that replays allocate nothing.
const Attributes& cast_to(DType dtype);

/// Overwrites `target` by the elements of `source`, of any layouts and dtypes.
void convert(const Composition& call, const TensorView& source, const TensorView& target);

/// `operand` itself where it has that dtype and lies row-major, else such a copy.
TensorView row_major(const Composition& call, const TensorView& operand, DType dtype);

/// `operand` in another dtype, itself where it has that.
TensorView as_dtype(const Composition& call, const TensorView& operand, DType dtype);

/// What several steps are computed in, so that the result of a half type is rounded once.
inline DType wide_dtype(DType dtype) { return size_of(dtype) == 2 ? DType::f32 : dtype; }

/// A number as an operand of rank 0.
TensorView number(const Composition& call, double value, DType dtype);

/// Memory of x's shape, laid out as x where that has no gaps.
TensorView scratch_like(const Composition& call, const TensorView& x, DType dtype);

/// Where an output is made that is computed in `dtype`: itself, or scratch memory that deliver() brings
/// there.
TensorView exact_target(const Composition& call, const TensorView& output, DType dtype);
void deliver(const Composition& call, const TensorView& made, const TensorView& output);

/// The same elements, which lie row-major, in another shape.
TensorView reshaped(TensorView view, const Shape& shape);

}  // namespace treadle
