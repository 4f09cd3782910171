/// Operands as bodies of ops need them: of one dtype, row-major.
#pragma once

#include "treadle/graph/composition.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/cast_options.h"
#include "treadle/ops/layout/copy.h"

namespace treadle {

/// Overwrites `target` by the elements of `source`, of any layouts and dtypes.
inline void convert(const Composition& call, const TensorView& source, const TensorView& target) {
  if (source.dtype == target.dtype) return call.run(copy_op(), {source}, {target});
  call.run(cast_op(), {source}, {target}, Attributes::of(CastOptions{target.dtype}));
}

/// `operand` itself where it has that dtype and lies row-major, else such a copy.
inline TensorView row_major(const Composition& call, const TensorView& operand, DType dtype) {
  if (operand.dtype == dtype && operand.contiguous()) return operand;
  const TensorView copied = call.scratch(operand.shape, dtype);
  convert(call, operand, copied);
  return copied;
}

}  // namespace treadle
