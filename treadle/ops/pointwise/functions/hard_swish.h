#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

/// Howard et al., Searching for MobileNetV3, 2019. The derivative at ±3 is that of the middle piece.
struct HardSwish : UnaryFunction {
  static constexpr const char *kName = "hard_swish", *kSummary = "y = x min(max(x + 3, 0), 6) / 6";
  static constexpr double kLow = -5, kHigh = 5, kTerms = 6;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return x < T(-3) ? T(0) : x > T(3) ? x : x * (x + T(3)) / T(6);
  }
  template <class T>
  TREADLE_DEVICE T gradient(T x, T dy) const {
    const T between = dy * (T(2) * x + T(3)) / T(6);
    return math::select(x < T(-3), T(0), math::select(x > T(3), dy, between));
  }

  double reference(double x) const { return x * std::fmin(std::fmax(x + 3, 0), 6) / 6; }
  double reference_gradient(double x, double dy) const { return dy * (x < -3 ? 0 : x > 3 ? 1 : x / 3 + 0.5); }
};

}  // namespace treadle::functions
