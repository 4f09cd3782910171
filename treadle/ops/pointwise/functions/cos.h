#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

/// Of radians. Integers and bool are taken as f32.
struct Cos : UnaryFunction {
  static constexpr const char *kName = "cos", *kSummary = "y = cos x, x in radians";
  static constexpr bool kIntegersAsFloat = true;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return math::cos(x);
  }
  template <class T>
  TREADLE_DEVICE T gradient(T x, T dy) const {
    return -(dy * math::sin(x));
  }

  double reference(double x) const { return std::cos(x); }
  double reference_gradient(double x, double dy) const { return -dy * std::sin(x); }
};

}  // namespace treadle::functions
