#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

/// Of radians. Integers and bool are taken as f32.
struct Sin : UnaryFunction {
  static constexpr const char *kName = "sin", *kSummary = "y = sin x, x in radians";
  static constexpr bool kIntegersAsFloat = true;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return math::sin(x);
  }
  template <class T>
  TREADLE_DEVICE T gradient(T x, T dy) const {
    return dy * math::cos(x);
  }

  double reference(double x) const { return std::sin(x); }
  double reference_gradient(double x, double dy) const { return dy * std::cos(x); }
};

}  // namespace treadle::functions
