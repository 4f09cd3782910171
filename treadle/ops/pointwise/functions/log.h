#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

/// Integers and bool are taken as f32.
struct Log : UnaryFunction {
  static constexpr const char *kName = "log", *kSummary = "y = ln x";
  static constexpr double kLow = 0.2, kHigh = 3;
  static constexpr bool kIntegersAsFloat = true;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return math::log(x);
  }
  template <class T>
  TREADLE_DEVICE T gradient(T x, T dy) const {
    return dy / x;
  }

  double reference(double x) const { return std::log(x); }
  double reference_gradient(double x, double dy) const { return dy / x; }
};

}  // namespace treadle::functions
