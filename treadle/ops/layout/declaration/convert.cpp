#include "treadle/ops/layout/declaration/convert.h"

#include <array>

#include "treadle/ops/fill/fill.h"
#include "treadle/ops/fill/fill_options.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/cast_options.h"
#include "treadle/ops/layout/copy.h"

namespace treadle {

const Attributes& cast_to(DType dtype) {
  static const auto all = [] {
    std::array<Attributes, kDTypeCount> list;
    for (DType one : kAllDTypes) list[size_t(one)] = Attributes::of(CastOptions{one});
    return list;
  }();
  return all[size_t(dtype)];
}

void convert(const Composition& call, const TensorView& source, const TensorView& target) {
  if (source.dtype == target.dtype) return call.run(copy_op(), {source}, {target});
  call.run(cast_op(), {source}, {target}, cast_to(target.dtype));
}

TensorView row_major(const Composition& call, const TensorView& operand, DType dtype) {
  if (operand.dtype == dtype && operand.contiguous()) return operand;
  const TensorView copied = call.scratch(operand.shape, dtype);
  convert(call, operand, copied);
  return copied;
}

TensorView as_dtype(const Composition& call, const TensorView& operand, DType dtype) {
  return operand.dtype == dtype ? operand : row_major(call, operand, dtype);
}

TensorView number(const Composition& call, double value, DType dtype) {
  const TensorView scalar = call.scratch({}, dtype);
  call.run(fill_op(), {scalar}, {scalar}, Attributes::of(FillOptions{value}));
  return scalar;
}

TensorView scratch_like(const Composition& call, const TensorView& x, DType dtype) {
  TensorView memory = call.scratch(x.shape, dtype);
  if (is_dense(x.shape, x.strides)) memory.strides = x.strides;
  return memory;
}

TensorView exact_target(const Composition& call, const TensorView& output, DType dtype) {
  return output.dtype == dtype ? output : call.scratch(output.shape, dtype);
}

void deliver(const Composition& call, const TensorView& made, const TensorView& output) {
  if (made.dtype != output.dtype) convert(call, made, output);
}

TensorView reshaped(TensorView view, const Shape& shape) {
  view.shape = shape;
  view.strides = contiguous_strides(shape);
  return view;
}

}  // namespace treadle
