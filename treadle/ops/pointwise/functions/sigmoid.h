#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

/// Integers and bool are taken as f32.
struct Sigmoid : UnaryFunction {
  static constexpr const char *kName = "sigmoid", *kSummary = "y = 1 / (1 + e^-x)";
  static constexpr bool kSavesOutput = true;
  static constexpr bool kIntegersAsFloat = true;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return T(1) / (T(1) + math::exp(-x));
  }
  template <class T>
  TREADLE_DEVICE T gradient(T y, T dy) const {
    return dy * y * (T(1) - y);
  }

  double reference(double x) const { return reference::logistic(x); }
  double reference_gradient(double y, double dy) const { return dy * (y - y * y); }
};

}  // namespace treadle::functions
