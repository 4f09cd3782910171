#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

/// By erf. Hendrycks and Gimpel, Gaussian Error Linear Units, 2016.
struct Gelu : UnaryFunction {
  static constexpr const char *kName = "gelu",
                              *kSummary = "y = x·Φ(x), Φ the normal distribution (exact, by erf)";
  static constexpr double kTerms = 8;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return x * T(0.5) * (T(1) + math::erf(x * T(0.70710678118654752440)));
  }
  template <class T>
  TREADLE_DEVICE T gradient(T x, T dy) const {
    T cumulative = T(0.5) * (T(1) + math::erf(x * T(0.70710678118654752440)));
    T density = T(0.39894228040143267794) * math::exp(T(-0.5) * x * x);
    return dy * (cumulative + x * density);
  }

  double reference(double x) const { return x * reference::normal_distribution(x); }
  double reference_gradient(double x, double dy) const {
    return dy * (reference::normal_distribution(x) + x * reference::normal_density(x));
  }
};

}  // namespace treadle::functions
