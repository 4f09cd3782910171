/// LinearUpdateOperands: addresses, extents and strides of the gradient of a linear layer's parameters and of
/// what follows it. Plain data, passed to kernels by value.
#pragma once

#include "treadle/graph/variant.h"
#include "treadle/ops/update/rule.h"

namespace treadle {

/// Tensors that are updated together, the parameter first; strides in elements. A bias has rows alone.
template <int K>
struct ParameterOperands {
  void* pointer[K];
  int64_t row[K], column[K];

  TREADLE_DEVICE bool defined() const { return pointer[0] != nullptr; }
  /// Element (o, i) of tensor k.
  template <class T>
  TREADLE_DEVICE T& at(int k, int64_t o, int64_t i) const {
    return static_cast<T*>(pointer[k])[o * row[k] + i * column[k]];
  }
};

/// x [N,in], dy [N,out], w [out,in], b [out] or none.
template <int K>
struct LinearUpdateOperands {
  int64_t N, in, out;
  int64_t x_row, x_column, dy_row, dy_column;
  const void *x, *dy;
  ParameterOperands<K> w, b;

  /// The factors of a product, by image and input or output.
  template <class T>
  TREADLE_DEVICE const T& x_at(int64_t n, int64_t i) const {
    return static_cast<const T*>(x)[n * x_row + i * x_column];
  }
  template <class T>
  TREADLE_DEVICE const T& dy_at(int64_t n, int64_t o) const {
    return static_cast<const T*>(dy)[n * dy_row + o * dy_column];
  }
};

/// `tensors` are K matrices or vectors, or none.
template <int K>
ParameterOperands<K> parameter_operands(std::span<const TensorView> tensors) {
  ParameterOperands<K> p{};
  for (size_t k = 0; k < tensors.size(); ++k) {
    p.pointer[k] = tensors[k].data;
    p.row[k] = tensors[k].strides[0];
    p.column[k] = tensors[k].shape.rank() > 1 ? tensors[k].strides[1] : 0;
  }
  return p;
}

/// The tensors of w, then perhaps those of b.
template <int K>
LinearUpdateOperands<K> linear_update_operands(const TensorView& x, const TensorView& dy,
                                               std::span<const TensorView> parameters) {
  return {x.shape[0],
          x.shape[1],
          dy.shape[1],
          x.strides[0],
          x.strides[1],
          dy.strides[0],
          dy.strides[1],
          x.data,
          dy.data,
          parameter_operands<K>(parameters.first(K)),
          parameter_operands<K>(parameters.subspan(K))};
}

// A call of a linear update has the inputs x, dy, the numbers of the step, and from here on the tensors of w
// and perhaps those of b.
inline constexpr int kNumbersOfLinearUpdate = 2, kParametersOfLinearUpdate = 3;

/// Of a linear update by a rule that keeps K - 1 tensors.
template <int K>
LinearUpdateOperands<K> linear_update_operands(const Call& call) {
  return linear_update_operands<K>(call.input(0), call.input(1),
                                   call.inputs.subspan(kParametersOfLinearUpdate));
}

/// One element of the parameter and of what the rule keeps, computed in C.
template <class T, class C, class Step, int K>
TREADLE_DEVICE inline void update_at(const Step& step, const ParameterOperands<K>& p, int64_t o, int64_t i,
                                     C gradient) {
  C value[K + 1];
  value[0] = static_cast<C>(p.template at<T>(0, o, i)), value[1] = gradient;
  for (int k = 1; k < K; ++k) value[k + 1] = static_cast<C>(p.template at<T>(k, o, i));
  apply_step(step, value);
  p.template at<T>(0, o, i) = static_cast<T>(value[0]);
  for (int k = 1; k < K; ++k) p.template at<T>(k, o, i) = static_cast<T>(value[k + 1]);
}

}  // namespace treadle
