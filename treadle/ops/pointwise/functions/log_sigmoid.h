#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

/// The smaller of x and 0 is taken out, so that nothing overflows.
struct LogSigmoid : UnaryFunction {
  static constexpr const char *kName = "log_sigmoid", *kSummary = "y = -ln(1 + e^-x)";
  static constexpr double kTerms = 6;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return (x < T(0) ? x : T(0)) - math::log1p(math::exp(x < T(0) ? x : -x));
  }
  template <class T>
  TREADLE_DEVICE T gradient(T x, T dy) const {
    return dy * math::logistic(T(-x));
  }

  double reference(double x) const { return -std::log1p(std::exp(-x)); }
  double reference_gradient(double x, double dy) const { return dy * reference::logistic(-x); }
};

}  // namespace treadle::functions
