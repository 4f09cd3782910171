#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

/// Dugas, Bengio, Bélisle, Nadeau and Garcia, Incorporating Second-Order Functional Knowledge for Better
/// Option Pricing, 2001. The larger of βx and 0 is taken out, so that nothing overflows: no threshold is
/// needed.
struct Softplus : UnaryFunction {
  static constexpr const char *kName = "softplus", *kSummary = "y = ln(1 + e^βx) / β";
  static constexpr double kTerms = 6;
  double beta = 1;
  template <class Field>
  static void describe(Field& field) {
    field("beta", &Softplus::beta, "how sharp the bend is");
  }
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    const T t = T(beta) * x;
    return ((t > T(0) ? t : T(0)) + math::log1p(math::exp(t > T(0) ? -t : t))) / T(beta);
  }
  template <class T>
  TREADLE_DEVICE T gradient(T x, T dy) const {
    return dy * math::logistic(T(T(beta) * x));
  }

  double reference(double x) const { return std::log1p(std::exp(beta * x)) / beta; }
  double reference_gradient(double x, double dy) const { return dy * reference::logistic(beta * x); }
};

}  // namespace treadle::functions
