/// The numbers of a convolution whose result is pooled at once, as loops and kernels need them. Plain data:
/// passed to kernels by value.
#pragma once

#include "treadle/ops/conv2d/conv2d_geometry.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d_options.h"
#include "treadle/ops/pool2d/pool2d_geometry.h"

namespace treadle {

/// conv: x [N,C,H,W], w [K,channels,R,S] → its result [N,K,P,Q], conv.y, which lies nowhere and counts as
/// row-major. pool: from that result to y [N,K,pool.P,pool.Q].
struct Conv2dMaxPool2dGeometry {
  Conv2dGeometry conv;
  Pool2dGeometry pool;

  int64_t places() const { return pool.R * pool.S; }
};

/// `x`, `w` and `y` stand for their gradients too.
inline Conv2dMaxPool2dGeometry make_conv2d_max_pool2d_geometry(const TensorView& x, const TensorView& w,
                                                               const TensorView& y,
                                                               const Conv2dMaxPool2dOptions& o) {
  TensorView result{nullptr, x.dtype, x.shape, {}};
  result.shape[1] = w.shape[0];
  result.shape[2] = window_positions(x.shape[2], o.padding.top, o.padding.bottom, w.shape[2], o.stride.height,
                                     o.dilation.height);
  result.shape[3] = window_positions(x.shape[3], o.padding.left, o.padding.right, w.shape[3], o.stride.width,
                                     o.dilation.width);
  result.strides = contiguous_strides(result.shape);
  return {make_conv2d_geometry(x, w, result, o),
          make_pool2d_geometry(result, y, o.pool_kernel, o.pool_stride, o.pool_padding, 1)};
}

/// Row and column in the convolution's result; `row` is −1 for none.
struct ChosenPlace {
  int64_t row, column;
};

/// The place that `choice` names in pooling window (p, q); none for kNoChoice and for what is no place of the
/// window.
TREADLE_DEVICE inline ChosenPlace chosen_place(const Pool2dGeometry& pool, int64_t p, int64_t q,
                                               uint8_t choice) {
  if (choice >= pool.R * pool.S) return {-1, -1};
  const int64_t row = pool.row(p, choice / pool.S), column = pool.column(q, choice % pool.S);
  return pool.inside(row, column) ? ChosenPlace{row, column} : ChosenPlace{-1, -1};
}

}  // namespace treadle
