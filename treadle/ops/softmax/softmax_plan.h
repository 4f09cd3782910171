/// How softmax walks its operands: a nest over the rows, and the axis within a row.
#pragma once

#include "treadle/ops/strided_operands.h"

namespace treadle {

/// Operands: the output first, then the inputs; all of one shape.
template <int N>
struct SoftmaxPlan {
  Strided<N> rows;
  int64_t length;      ///< elements of a row
  int64_t strides[N];  ///< between them
};

template <int N>
SoftmaxPlan<N> make_softmax_plan(const TensorView& output, std::span<const TensorView> inputs, int64_t axis) {
  SoftmaxPlan<N> plan{};
  const int rank = output.shape.rank(), chosen = int(axis < 0 ? axis + rank : axis);
  Shape shape = output.shape;
  std::array<Strides, N> strides{output.strides};
  for (int k = 1; k < N; ++k) strides[k] = inputs[k - 1].strides;
  plan.length = rank == 0 ? 1 : shape[chosen];
  for (int k = 0; k < N; ++k) plan.strides[k] = rank == 0 ? 1 : strides[k][chosen];
  if (rank > 0) shape[chosen] = 1;
  plan.rows = make_strided<N>(shape, strides);
  return plan;
}

}  // namespace treadle
