/// layer_norm as its kernels see it: rows of x and y of any strides, with w and b.
#pragma once

#include "treadle/kernels/group.h"
#include "treadle/kernels/math.h"
#include "treadle/ops/device_variant.h"
#include "treadle/ops/norm/layer_norm.h"
#include "treadle/ops/strided_operands.h"

namespace treadle::TREADLE_TARGET {

struct LayerNormOperands {
  Strided<2> rows;  ///< y and x
  int64_t length, y_step, x_step, w_step, b_step;
  double epsilon;
  const void *x, *w, *b;  ///< b may be null
  void* y;
};

/// One row, typed.
template <class T>
struct LayerNormRow {
  using C = Compute<T>;
  const LayerNormOperands& in;
  const T* x;
  T* y;

  __device__ LayerNormRow(const LayerNormOperands& in, int64_t row) : in(in) {
    int64_t o[2];
    in.rows.offsets(row, o);
    y = static_cast<T*>(in.y) + o[0], x = static_cast<const T*>(in.x) + o[1];
  }
  __device__ C element(int64_t i) const { return static_cast<C>(x[i * in.x_step]); }
  __device__ void write(int64_t i, C mean, C deviation) const {
    C value = (element(i) - mean) / deviation * static_cast<C>(static_cast<const T*>(in.w)[i * in.w_step]);
    if (in.b) value += static_cast<C>(static_cast<const T*>(in.b)[i * in.b_step]);
    y[i * in.y_step] = static_cast<T>(value);
  }
  __device__ C deviation(C squares) const {
    return math::sqrt(squares / static_cast<C>(in.length) + static_cast<C>(in.epsilon));
  }
};

inline LayerNormOperands layer_norm_operands(const Call& call) {
  const TensorView &x = call.input(0), &w = call.input(1), &y = call.output();
  Shape rows = x.shape;
  rows[-1] = 1;
  LayerNormOperands in{};
  in.rows = make_strided<2>(rows, {y.strides, x.strides});
  in.length = x.shape[-1], in.y_step = y.strides[-1], in.x_step = x.strides[-1], in.w_step = w.strides[0];
  in.epsilon = call.options<LayerNormOptions>().epsilon;
  in.x = x.data, in.w = w.data, in.y = y.data;
  if (call.has_input(2)) in.b = call.input(2).data, in.b_step = call.input(2).strides[0];
  return in;
}

}  // namespace treadle::TREADLE_TARGET
