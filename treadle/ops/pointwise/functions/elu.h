#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

/// Clevert, Unterthiner and Hochreiter, Fast and Accurate Deep Network Learning by Exponential Linear Units,
/// 2015; with the scale that selu() has.
struct Elu : UnaryFunction {
  static constexpr const char *kName = "elu",
                              *kSummary = "y = scale·x for x > 0, scale·alpha·(e^x - 1) elsewhere";
  double alpha = 1;
  double scale = 1;
  template <class Field>
  static void describe(Field& field) {
    field("alpha", &Elu::alpha, "how far below 0 y/scale falls");
    field("scale", &Elu::scale, "factor of the result");
  }
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return x > T(0) ? T(scale) * x : T(scale * alpha) * math::expm1(x);
  }
  template <class T>
  TREADLE_DEVICE T gradient(T x, T dy) const {
    const T below = T(scale * alpha) * math::exp(math::select(x > T(0), T(0), x));
    return dy * math::select(x > T(0), T(scale), below);
  }

  double reference(double x) const { return scale * (x > 0 ? x : alpha * std::expm1(x)); }
  double reference_gradient(double x, double dy) const {
    return dy * scale * (x > 0 ? 1 : alpha * std::exp(x));
  }
};

}  // namespace treadle::functions
