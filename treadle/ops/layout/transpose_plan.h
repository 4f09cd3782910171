/// TransposePlan: a copy seen as a batch of matrix transpositions.
#pragma once

#include <optional>

#include "treadle/ops/strided_operands.h"

namespace treadle {

/// y[b][r][c] = x[b][c][r], where c is dense in y and r is dense in x. Strides in elements; `batch` walks y
/// and x.
struct TransposePlan {
  int64_t rows, columns;
  int64_t y_stride, x_stride;  ///< from row to row of y, from column to column of x
  Strided<2> batch;
};

namespace detail {

/// The axis along which x is dense while y's innermost axis strides over it, or -1.
inline int transposed_axis(const Strided<2>& nest) {
  const int inner = nest.rank - 1;
  if (nest.strides[0][inner] != 1 || nest.strides[1][inner] <= 1) return -1;
  for (int axis = 0; axis < inner; ++axis)
    if (nest.strides[1][axis] == 1 && nest.strides[0][axis] > 0) return axis;
  return -1;
}

inline Strided<2> without_axes(const Strided<2>& nest, int a, int b) {
  Strided<2> rest{};
  for (int axis = 0; axis < nest.rank; ++axis) {
    if (axis == a || axis == b) continue;
    rest.shape[rest.rank] = nest.shape[axis];
    for (int k = 0; k < 2; ++k) rest.strides[k][rest.rank] = nest.strides[k][axis];
    ++rest.rank;
  }
  if (rest.rank == 0) rest.shape[rest.rank++] = 1;
  rest.numel = nest.numel / (nest.shape[a] * nest.shape[b]);
  return rest;
}

}  // namespace detail

/// The plan of y = x (broadcast to y's shape), or none when the copy is no transposition or has too few rows,
/// or columns, to be worth it.
inline std::optional<TransposePlan> plan_transpose(const TensorView& y, const TensorView& x,
                                                   int64_t fewest_columns = 8) {
  constexpr int64_t kFewestRows = 8;
  auto nest = make_strided<2>(y, {&x, 1});
  const int inner = nest.rank - 1, axis = detail::transposed_axis(nest);
  if (axis < 0 || nest.shape[axis] < kFewestRows || nest.shape[inner] < fewest_columns) return {};
  return TransposePlan{nest.shape[axis], nest.shape[inner], nest.strides[0][axis], nest.strides[1][inner],
                       detail::without_axes(nest, axis, inner)};
}

}  // namespace treadle
