#pragma once

#include <algorithm>

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

struct Maximum : BinaryFunction {
  static constexpr const char *kName = "maximum",
                              *kSummary =
                                  "y = max(a, b), broadcast; NaN propagates, ties send the gradient to a";
  static constexpr bool kIntegers = true;
  template <class T>
  TREADLE_DEVICE T operator()(T a, T b) const {
    return a >= b || a != a ? a : b;
  }

  double reference(double a, double b) const { return reference::has_nan(a, b) ? NAN : std::max(a, b); }
};

struct Minimum : BinaryFunction {
  static constexpr const char *kName = "minimum",
                              *kSummary =
                                  "y = min(a, b), broadcast; NaN propagates, ties send the gradient to a";
  static constexpr bool kIntegers = true;
  template <class T>
  TREADLE_DEVICE T operator()(T a, T b) const {
    return a <= b || a != a ? a : b;
  }

  double reference(double a, double b) const { return reference::has_nan(a, b) ? NAN : std::min(a, b); }
};

}  // namespace treadle::functions
