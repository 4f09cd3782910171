#pragma once

#include <algorithm>

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

struct Clamp : UnaryFunction {
  static constexpr const char *kName = "clamp",
                              *kSummary =
                                  "y = min(max(x, low), high), so high where low is larger; NaN "
                                  "where a bound is; the derivative is 0 outside";
  static constexpr bool kPiecewiseLinear = true;
  static constexpr bool kOwnTypedFunction = true;  // takes integers, and bounds of any kind
  double low = -0.9137, high = 1.0771;
  template <class Field>
  static void describe(Field& field) {
    field("low", &Clamp::low, "lower bound");
    field("high", &Clamp::high, "upper bound");
  }
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    const T raised = x < T(low) || low != low ? T(low) : x;
    return raised > T(high) || high != high ? T(high) : raised;
  }
  template <class T>
  TREADLE_DEVICE T gradient(T x, T dy) const {
    return math::select(x >= T(low), math::select(x <= T(high), dy, T(0)), T(0));
  }

  double reference(double x) const {
    if (std::isnan(x) || std::isnan(low) || std::isnan(high)) return NAN;
    return std::min(std::max(x, low), high);
  }
  double reference_gradient(double x, double dy) const { return low <= x && x <= high ? dy : 0; }
};

}  // namespace treadle::functions
