/// MatrixProduct: c = a·b + bias over a batch, as extents, strides and addresses; what every variant of
/// matmul and linear works on. Plain data, passed to kernels by value.
#pragma once

#include <algorithm>
#include <array>

#include "treadle/graph/variant.h"
#include "treadle/ops/strided_operands.h"

namespace treadle {

/// a [M,K], b [K,N], bias [N] or null, c [M,N], repeated over `batch`. Strides in elements; a transpose is a
/// pair of exchanged strides.
struct MatrixProduct {
  int64_t M, N, K;
  int64_t a_row, a_column, b_row, b_column, c_row, c_column, bias_step;
  Strided<3> batch;  ///< offsets of c, a and b
  DType dtype;
  const void *a, *b, *bias;
  void* c;

  TREADLE_DEVICE int64_t outputs() const { return batch.numel * M * N; }
};

namespace detail {

inline TensorView with_last_axes_exchanged(TensorView view) {
  std::swap(view.shape[-1], view.shape[-2]);
  std::swap(view.strides[-1], view.strides[-2]);
  return view;
}

inline Dims without_last_two(const Dims& dims) {
  Dims batch;
  for (int axis = 0; axis + 2 < dims.rank(); ++axis) batch.push_back(dims[axis]);
  return batch;
}

/// Rows that follow one another across the batch make one taller product when all of the batch shares b.
inline void fold_batch_into_rows(MatrixProduct& p) {
  const int64_t c_step = p.batch.strides[0][0], a_step = p.batch.strides[1][0],
                b_step = p.batch.strides[2][0];
  if (p.batch.numel <= 1 || p.batch.rank != 1 || b_step != 0) return;
  if (p.M == 1) p.a_row = a_step, p.c_row = c_step;
  if (a_step != p.M * p.a_row || c_step != p.M * p.c_row) return;
  p.M *= p.batch.numel;
  p.batch = make_strided<3>(Shape{}, {});
}

inline MatrixProduct make_product(const TensorView& a, const TensorView& b, const TensorView& bias,
                                  const TensorView& c) {
  const Shape batch = without_last_two(c.shape);
  auto batch_strides = [&](const TensorView& view) {
    return broadcast_strides(without_last_two(view.shape), without_last_two(view.strides), batch);
  };
  MatrixProduct p{c.shape[-2],
                  c.shape[-1],
                  a.shape[-1],
                  a.strides[-2],
                  a.strides[-1],
                  b.strides[-2],
                  b.strides[-1],
                  c.strides[-2],
                  c.strides[-1],
                  0,
                  {},
                  c.dtype,
                  a.data,
                  b.data,
                  bias.data,
                  c.data};
  if (bias.defined()) p.bias_step = bias.strides[0];
  p.batch = make_strided<3>(batch, {without_last_two(c.strides), batch_strides(a), batch_strides(b)});
  fold_batch_into_rows(p);
  return p;
}

}  // namespace detail

/// The product of a matmul call: inputs a, b.
inline MatrixProduct matmul_product(const Call& call) {
  return detail::make_product(call.input(0), call.input(1), {}, call.output());
}

/// The product of a linear call: inputs x [N,in], w [out,in], bias or none. y = x·wᵀ + bias.
inline MatrixProduct linear_product(const Call& call) {
  return detail::make_product(call.input(0), detail::with_last_axes_exchanged(call.input(1)),
                              call.has_input(2) ? call.input(2) : TensorView{}, call.output());
}

/// How a BLAS reads a matrix: row by row, `leading` elements apart, or the transpose of such a matrix.
struct BlasLayout {
  bool possible = false, transposed = false;
  int64_t leading = 0;
};

/// The layout of a matrix with these extents and strides; strides along an extent of 1 do not matter.
inline BlasLayout blas_layout(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) {
  if (columns == 1 || column_stride == 1) {
    if (rows == 1) return {true, false, std::max<int64_t>(columns, 1)};
    if (row_stride >= std::max<int64_t>(columns, 1)) return {true, false, row_stride};
  }
  if (rows == 1 || row_stride == 1) {
    if (columns == 1) return {true, true, std::max<int64_t>(rows, 1)};
    if (column_stride >= std::max<int64_t>(rows, 1)) return {true, true, column_stride};
  }
  return {};
}

inline BlasLayout blas_layout_of_a(const MatrixProduct& p) {
  return blas_layout(p.M, p.K, p.a_row, p.a_column);
}
inline BlasLayout blas_layout_of_b(const MatrixProduct& p) {
  return blas_layout(p.K, p.N, p.b_row, p.b_column);
}
inline BlasLayout blas_layout_of_c(const MatrixProduct& p) {
  return blas_layout(p.M, p.N, p.c_row, p.c_column);
}

/// Whether a BLAS takes the operands as they lie and writes c row by row.
inline bool suits_blas(const MatrixProduct& p) {
  const BlasLayout c = blas_layout_of_c(p);
  return blas_layout_of_a(p).possible && blas_layout_of_b(p).possible && c.possible && !c.transposed;
}

}  // namespace treadle
