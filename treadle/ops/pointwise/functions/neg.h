#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

struct Neg : UnaryFunction {
  static constexpr const char *kName = "neg", *kSummary = "y = -x";
  static constexpr bool kPiecewiseLinear = true;
  static constexpr bool kIntegers = true;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return T(Wrapping<T>(0) - Wrapping<T>(x));
    else
      return -x;
  }
  template <class T>
  TREADLE_DEVICE T gradient(T, T dy) const {
    return T(-dy);
  }

  double reference(double x) const { return -x; }
  double reference_gradient(double, double dy) const { return -dy; }
};

}  // namespace treadle::functions
