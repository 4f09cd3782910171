/// LinearUpdateOperands: addresses, extents and strides of a linear_sgd_update call. Plain data, passed to
/// kernels by value.
#pragma once

#include "treadle/graph/variant.h"
#include "treadle/simt/function_qualifiers.h"

namespace treadle {

/// x [N,in], dy [N,out], w [out,in], b [out] or null; strides in elements. `state` begins with the rate.
struct LinearUpdateOperands {
  int64_t N, in, out;
  int64_t x_row, x_column, dy_row, dy_column, w_row, w_column, b_step;
  const void *x, *dy;
  const double* state;
  void *w, *b;

  /// Element `offset` of an operand.
  template <class T, class Void>
  TREADLE_DEVICE T& at(Void* base, int64_t offset) const {
    return static_cast<T*>(base)[offset];
  }
};

/// `b` may be undefined.
inline LinearUpdateOperands linear_update_operands(const TensorView& x, const TensorView& dy,
                                                   const double* state, const TensorView& w,
                                                   const TensorView& b) {
  return {x.shape[0],    x.shape[1],    dy.shape[1],  x.strides[0], x.strides[1],
          dy.strides[0], dy.strides[1], w.strides[0], w.strides[1], b.defined() ? b.strides[0] : 0,
          x.data,        dy.data,       state,        w.data,       b.data};
}

/// Of a call with inputs x, dy, state, w and maybe b.
inline LinearUpdateOperands linear_update_operands(const Call& call) {
  return linear_update_operands(call.input(0), call.input(1), call.input(2).as<double>(), call.input(3),
                                call.has_input(4) ? call.input(4) : TensorView{});
}

}  // namespace treadle
