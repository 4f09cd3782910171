#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

/// Integers and bool are taken as f32.
struct Erf : UnaryFunction {
  static constexpr const char *kName = "erf", *kSummary = "y = 2/√π ∫ e^-t² dt from 0 to x";
  static constexpr double kTerms = 6;
  static constexpr bool kIntegersAsFloat = true;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return math::erf(x);
  }
  template <class T>
  TREADLE_DEVICE T gradient(T x, T dy) const {
    return dy * T(1.12837916709551257390) * math::exp(-(x * x));
  }

  /// Near 0 by its series, of which x³ is the second term.
  double reference(double x) const {
    return std::fabs(x) < 1e-5 ? 2 * std::numbers::inv_sqrtpi * (x - x * x * x / 3) : 1 - std::erfc(x);
  }
  double reference_gradient(double x, double dy) const {
    return dy * 2 * std::numbers::inv_sqrtpi * std::exp(-x * x);
  }
};

}  // namespace treadle::functions
