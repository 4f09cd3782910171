#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

/// Integers and bool are taken as f32.
struct Exp : UnaryFunction {
  static constexpr const char *kName = "exp", *kSummary = "y = e^x";
  static constexpr bool kSavesOutput = true;
  static constexpr bool kIntegersAsFloat = true;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return math::exp(x);
  }
  template <class T>
  TREADLE_DEVICE T gradient(T y, T dy) const {
    return y * dy;
  }

  double reference(double x) const { return std::exp(x); }
  double reference_gradient(double y, double dy) const { return dy * y; }
};

}  // namespace treadle::functions
