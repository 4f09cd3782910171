/// What the kernels of conv2d_max_pool2d and its gradients share: operands, and the choice within a window.
/// Included by .cu files only.
#pragma once

#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d_geometry.h"
#include "treadle/ops/device_variant.h"

namespace treadle::TREADLE_TARGET {

/// The first largest value of a pooling window so far, NaN above all, and its place.
template <class C>
struct LargestInWindow {
  C value = -C(INFINITY);
  int place = kNoChoice;

  __device__ void offer(C candidate, int at) {
    if (place != kNoChoice && (candidate <= value || value != value)) return;
    value = candidate, place = at;
  }
};

/// Operands of the forward pass.
template <class T>
struct ConvPoolOperands {
  Conv2dMaxPool2dGeometry g;
  Operand4 choices;  ///< extents and strides of `choice`, if there is one
  const T *x, *w, *b;
  int64_t b_stride;
  T* y;
  uint8_t* choice;
  bool relu;

  /// Writes the element of window (p, q), with bias and ReLU: one element and, if asked for, one byte.
  __device__ void store(int64_t n, int64_t k, int64_t p, int64_t q, LargestInWindow<Compute<T>> best) const {
    if (b && best.place != kNoChoice) best.value += Compute<T>(b[k * b_stride]);
    if (relu && !(best.value > 0)) {
      if (best.value <= 0) best.value = 0;  // not NaN
      best.place = kNoChoice;
    }
    y[g.pool.y.at(n, k, p, q)] = T(best.value);
    if (choice) choice[choices.at(n, k, p, q)] = uint8_t(best.place);
  }
};

template <class T>
ConvPoolOperands<T> conv_pool_operands(const Call& call) {
  const auto& options = call.options<Conv2dMaxPool2dOptions>();
  const bool biased = call.has_input(2);
  return {make_conv2d_max_pool2d_geometry(call.input(0), call.input(1), call.output(), options),
          options.choice ? make_operand4(call.output(1)) : Operand4{},
          call.input(0).as<T>(),
          call.input(1).as<T>(),
          biased ? call.input(2).as<T>() : nullptr,
          biased ? call.input(2).strides[0] : 0,
          call.output().as<T>(),
          options.choice ? call.output(1).as<uint8_t>() : nullptr,
          options.relu};
}

/// The gradient that comes back, and what it is to go through.
template <class T>
struct PooledGradient {
  Conv2dMaxPool2dGeometry g;
  Operand4 choices;
  const T* dy;
  const uint8_t* choice;

  __device__ int chosen(int64_t n, int64_t k, int64_t p, int64_t q) const {
    return choice[choices.at(n, k, p, q)];
  }
  __device__ Compute<T> at(int64_t n, int64_t k, int64_t p, int64_t q) const {
    return Compute<T>(dy[g.pool.y.at(n, k, p, q)]);
  }
};

template <class T>
PooledGradient<T> pooled_gradient(const TensorView& x, const TensorView& w, const TensorView& dy,
                                  const TensorView& choice, const Conv2dMaxPool2dOptions& options) {
  return {make_conv2d_max_pool2d_geometry(x, w, dy, options), make_operand4(choice), dy.as<T>(),
          choice.as<uint8_t>()};
}

template <class T>
PooledGradient<T> input_gradient_operands(const Call& call) {
  return pooled_gradient<T>(call.output(), call.input(2), call.input(0), call.input(1),
                            call.options<Conv2dMaxPool2dInputGradientOptions>());
}

template <class T>
PooledGradient<T> weight_gradient_operands(const Call& call) {
  return pooled_gradient<T>(call.input(0), call.output(), call.input(1), call.input(2),
                            call.options<Conv2dMaxPool2dWeightGradientOptions>());
}

/// Whether elements of the call's operands, 4-d ones first, can be numbered in 32 bits.
inline bool fits_32_bits(const Call& call) {
  constexpr int64_t kLargest = 1 << 30;
  for (const TensorView& view : call.inputs)
    if (view.numel() >= kLargest) return false;
  for (const TensorView& view : call.outputs)
    if (view.numel() >= kLargest) return false;
  return true;
}

}  // namespace treadle::TREADLE_TARGET
