#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

struct Abs : UnaryFunction {
  static constexpr const char *kName = "abs", *kSummary = "y = |x|; the derivative at 0 is 0";
  static constexpr bool kPiecewiseLinear = true;
  static constexpr bool kIntegers = true;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return x > T(0) ? x : T(Wrapping<T>(0) - Wrapping<T>(x));  // never -0, and NaN stays
  }
  template <class T>
  TREADLE_DEVICE T gradient(T x, T dy) const {
    return math::select(x > T(0), dy, math::select(x < T(0), T(-dy), T(T(0) * x)));
  }

  double reference(double x) const { return std::fabs(x); }
  double reference_gradient(double x, double dy) const {
    return std::isnan(x) ? x : dy * double((x > 0) - (x < 0));
  }
};

}  // namespace treadle::functions
