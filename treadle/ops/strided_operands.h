/// Builds and walks loop nests over operands that broadcast to one shape: the host side of kernels/strided.h.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "treadle/core/parallel_for.h"
#include "treadle/core/tensor_view.h"
#include "treadle/kernels/strided.h"

namespace treadle {

/// The nest over `shape` with the operands' strides (0 where broadcast). Axes are ordered by the strides of
/// operand 0, largest outside, and neighbours are merged; memory order of operand 0 is the loop order.
template <int N>
Strided<N> make_strided(const Shape& shape, const std::array<Strides, N>& strides) {
  int order[kMaxRank], rank = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1) continue;
    int k = rank++;
    for (; k > 0 && strides[0][order[k - 1]] < strides[0][axis]; --k) order[k] = order[k - 1];
    order[k] = axis;
  }
  Strided<N> nest{};
  nest.numel = shape.numel();
  for (int i = 0; i < rank; ++i) {
    int axis = order[i];
    bool mergeable = nest.rank > 0;
    for (int k = 0; k < N && mergeable; ++k)
      mergeable = nest.strides[k][nest.rank - 1] == strides[k][axis] * shape[axis];
    int target = mergeable ? nest.rank - 1 : nest.rank++;
    nest.shape[target] = (mergeable ? nest.shape[target] : 1) * shape[axis];
    for (int k = 0; k < N; ++k) nest.strides[k][target] = strides[k][axis];
  }
  if (nest.rank == 0) nest.rank = 1, nest.shape[0] = 1;
  return nest;
}

/// The nest of an output (first) and inputs broadcast to it.
template <int N>
Strided<N> make_strided(const TensorView& output, std::span<const TensorView> inputs) {
  std::array<Strides, N> strides;
  strides[0] = output.strides;
  for (int k = 1; k < N; ++k)
    strides[k] = broadcast_strides(inputs[k - 1].shape, inputs[k - 1].strides, output.shape);
  return make_strided<N>(output.shape, strides);
}

/// Where the element lies that is `offset` elements behind the first.
inline void* element_at(const void* first, int64_t offset, DType dtype) {
  return TensorView{const_cast<void*>(first), dtype, {}, {}}.element(offset);
}

/// Calls row(offsets[N], strides[N], count) for runs along the innermost axis, spread over threads.
/// `each`: what an element takes.
template <int N, class Row>
void for_each_row(const Strided<N>& nest, Nanoseconds each, Row row) {
  const int inner = nest.rank - 1;
  std::array<int64_t, N> inner_strides;
  for (int k = 0; k < N; ++k) inner_strides[k] = nest.strides[k][inner];
  parallel_for(nest.numel, each, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      int64_t offsets[N];
      nest.offsets(begin, offsets);
      int64_t count = std::min(end - begin, nest.shape[inner] - begin % nest.shape[inner]);
      row(offsets, inner_strides, count);
      begin += count;
    }
  });
}

}  // namespace treadle
