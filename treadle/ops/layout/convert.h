/// Operands as bodies of ops need them: of one dtype, row-major; and numbers.
#pragma once

#include <array>

#include "treadle/graph/composition.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/fill/fill_options.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/cast_options.h"
#include "treadle/ops/layout/copy.h"

namespace treadle {

/// What cast is told; made once, so that replays allocate nothing.
inline const Attributes& cast_to(DType dtype) {
  static const auto all = [] {
    std::array<Attributes, kDTypeCount> list;
    for (DType one : kAllDTypes) list[size_t(one)] = Attributes::of(CastOptions{one});
    return list;
  }();
  return all[size_t(dtype)];
}

/// Overwrites `target` by the elements of `source`, of any layouts and dtypes.
inline void convert(const Composition& call, const TensorView& source, const TensorView& target) {
  if (source.dtype == target.dtype) return call.run(copy_op(), {source}, {target});
  call.run(cast_op(), {source}, {target}, cast_to(target.dtype));
}

/// `operand` itself where it has that dtype and lies row-major, else such a copy.
inline TensorView row_major(const Composition& call, const TensorView& operand, DType dtype) {
  if (operand.dtype == dtype && operand.contiguous()) return operand;
  const TensorView copied = call.scratch(operand.shape, dtype);
  convert(call, operand, copied);
  return copied;
}

/// `operand` in another dtype, itself where it has that.
inline TensorView as_dtype(const Composition& call, const TensorView& operand, DType dtype) {
  return operand.dtype == dtype ? operand : row_major(call, operand, dtype);
}

/// What several steps are computed in, so that the result of a half type is rounded once.
inline DType wide_dtype(DType dtype) { return size_of(dtype) == 2 ? DType::f32 : dtype; }

/// A number as an operand of rank 0.
inline TensorView number(const Composition& call, double value, DType dtype) {
  const TensorView scalar = call.scratch({}, dtype);
  call.run(fill_op(), {scalar}, {scalar}, Attributes::of(FillOptions{value}));
  return scalar;
}

/// Memory of x's shape, laid out as x where that has no gaps.
inline TensorView scratch_like(const Composition& call, const TensorView& x, DType dtype) {
  TensorView memory = call.scratch(x.shape, dtype);
  if (is_dense(x.shape, x.strides)) memory.strides = x.strides;
  return memory;
}

/// Where an output is made that is computed in `dtype`: itself, or scratch memory that deliver() brings
/// there.
inline TensorView exact_target(const Composition& call, const TensorView& output, DType dtype) {
  return output.dtype == dtype ? output : call.scratch(output.shape, dtype);
}
inline void deliver(const Composition& call, const TensorView& made, const TensorView& output) {
  if (made.dtype != output.dtype) convert(call, made, output);
}

/// The same elements, which lie row-major, in another shape.
inline TensorView reshaped(TensorView view, const Shape& shape) {
  view.shape = shape;
  view.strides = contiguous_strides(shape);
  return view;
}

}  // namespace treadle
