#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

/// Integers and bool are taken as f32.
struct Sqrt : UnaryFunction {
  static constexpr const char *kName = "sqrt", *kSummary = "y = √x";
  static constexpr double kLow = 0.2, kHigh = 3;
  static constexpr bool kSavesOutput = true;
  static constexpr bool kIntegersAsFloat = true;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return math::sqrt(x);
  }
  template <class T>
  TREADLE_DEVICE T gradient(T y, T dy) const {
    return dy / (T(2) * y);
  }

  double reference(double x) const { return std::sqrt(x); }
  double reference_gradient(double y, double dy) const { return dy / (y + y); }
};

}  // namespace treadle::functions
