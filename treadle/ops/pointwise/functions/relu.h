#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

struct Relu : UnaryFunction {
  static constexpr const char *kName = "relu",
                              *kSummary = "y = max(x, 0); the derivative at 0 is 0, NaN propagates";
  static constexpr bool kPiecewiseLinear = true;
  static constexpr bool kSavesOutput = true, kNeverNegative = true;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return x <= T(0) ? T(0) : x;
  }
  template <class T>
  TREADLE_DEVICE T gradient(T y, T dy) const {
    return math::select(y <= T(0), T(0), dy);
  }

  double reference(double x) const { return x < 0 ? 0 : x; }
  double reference_gradient(double y, double dy) const { return y <= 0 ? 0 : dy; }
};

}  // namespace treadle::functions
