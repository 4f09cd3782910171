#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

struct Prelu : BinaryFunction {
  static constexpr const char *kName = "prelu", *kSummary = "y = x for x > 0, w·x elsewhere; broadcast";
  template <class T>
  TREADLE_DEVICE T operator()(T x, T w) const {
    return x > T(0) ? x : w * x;
  }

  double reference(double x, double w) const { return x > 0 ? x : w * x; }
};

}  // namespace treadle::functions
