#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

/// Integers and bool are taken as f32.
struct Tanh : UnaryFunction {
  static constexpr const char *kName = "tanh", *kSummary = "y = tanh x";
  static constexpr bool kSavesOutput = true;
  static constexpr bool kIntegersAsFloat = true;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return math::tanh(x);
  }
  template <class T>
  TREADLE_DEVICE T gradient(T y, T dy) const {
    return dy * (T(1) - y * y);
  }

  double reference(double x) const { return std::tanh(x); }
  double reference_gradient(double y, double dy) const { return dy - dy * y * y; }
};

}  // namespace treadle::functions
