#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

struct Silu : UnaryFunction {
  static constexpr const char *kName = "silu", *kSummary = "y = x / (1 + e^-x)";
  static constexpr double kTerms = 6;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return x / (T(1) + math::exp(-x));
  }
  template <class T>
  TREADLE_DEVICE T gradient(T x, T dy) const {
    const T s = math::logistic(x);
    return dy * s * (T(1) + x * (T(1) - s));
  }

  double reference(double x) const { return x * reference::logistic(x); }
  double reference_gradient(double x, double dy) const {
    return dy * (reference::logistic(x) + x * reference::logistic(x) * reference::logistic(-x));
  }
};

}  // namespace treadle::functions
