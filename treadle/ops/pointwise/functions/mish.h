#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

/// Misra, Mish: A Self Regularized Non-Monotonic Activation Function, 2019. With e = e^-|x|, tanh ln(1 + e^x)
/// is a ratio of polynomials in e, and nothing overflows.
struct Mish : UnaryFunction {
  static constexpr const char *kName = "mish", *kSummary = "y = x·tanh ln(1 + e^x)";
  static constexpr double kTerms = 8;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return x * factor(x, math::exp(x > T(0) ? -x : x));
  }
  template <class T>
  TREADLE_DEVICE T gradient(T x, T dy) const {
    const T e = math::exp(math::select(x > T(0), T(-x), x)), t = factor(x, e);
    const T logistic = math::select(x > T(0), T(1), e) / (T(1) + e);
    return dy * (t + x * (T(1) - t * t) * logistic);
  }

  double reference(double x) const { return x * std::tanh(std::log1p(std::exp(x))); }
  double reference_gradient(double x, double dy) const {
    const double t = std::tanh(std::log1p(std::exp(x)));
    return dy * (t + x * (1 - t * t) * reference::logistic(x));
  }

 private:
  template <class T>
  static TREADLE_DEVICE T factor(T x, T e) {
    const T above = math::select(x > T(0), T(T(1) + T(2) * e), T(e * (e + T(2))));
    return above / (above + T(2) * math::select(x > T(0), T(e * e), T(1)));
  }
};

}  // namespace treadle::functions
