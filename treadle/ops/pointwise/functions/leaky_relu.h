#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

struct LeakyRelu : UnaryFunction {
  static constexpr const char *kName = "leaky_relu", *kSummary = "y = x for x > 0, slope·x elsewhere";
  static constexpr bool kPiecewiseLinear = true;
  double slope = 0.01;
  template <class Field>
  static void describe(Field& field) {
    field("slope", &LeakyRelu::slope, "factor for negative inputs");
  }
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return x > T(0) ? x : T(slope) * x;
  }
  template <class T>
  TREADLE_DEVICE T gradient(T x, T dy) const {
    return math::select(x > T(0), dy, T(T(slope) * dy));
  }

  double reference(double x) const { return x < 0 ? slope * x : x; }
  double reference_gradient(double x, double dy) const { return x > 0 ? dy : slope * dy; }
};

}  // namespace treadle::functions
