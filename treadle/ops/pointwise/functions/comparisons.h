#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

struct Equal : ComparisonFunction {
  static constexpr const char *kName = "equal", *kSummary = "y = (a == b), broadcast";
  template <class T>
  TREADLE_DEVICE bool operator()(T a, T b) const {
    return a == b;
  }

  double reference(double a, double b) const { return !reference::has_nan(a, b) && a - b == 0; }
};

struct NotEqual : ComparisonFunction {
  static constexpr const char *kName = "not_equal", *kSummary = "y = (a ≠ b), broadcast";
  template <class T>
  TREADLE_DEVICE bool operator()(T a, T b) const {
    return a != b;
  }

  double reference(double a, double b) const { return reference::has_nan(a, b) || a - b != 0; }
};

struct Less : ComparisonFunction {
  static constexpr const char *kName = "less", *kSummary = "y = (a < b), broadcast";
  template <class T>
  TREADLE_DEVICE bool operator()(T a, T b) const {
    return a < b;
  }

  double reference(double a, double b) const { return b - a > 0; }
};

struct LessEqual : ComparisonFunction {
  static constexpr const char *kName = "less_equal", *kSummary = "y = (a ≤ b), broadcast";
  template <class T>
  TREADLE_DEVICE bool operator()(T a, T b) const {
    return a <= b;
  }

  double reference(double a, double b) const { return !reference::has_nan(a, b) && !(a - b > 0); }
};

struct Greater : ComparisonFunction {
  static constexpr const char *kName = "greater", *kSummary = "y = (a > b), broadcast";
  template <class T>
  TREADLE_DEVICE bool operator()(T a, T b) const {
    return a > b;
  }

  double reference(double a, double b) const { return a - b > 0; }
};

struct GreaterEqual : ComparisonFunction {
  static constexpr const char *kName = "greater_equal", *kSummary = "y = (a ≥ b), broadcast";
  template <class T>
  TREADLE_DEVICE bool operator()(T a, T b) const {
    return a >= b;
  }

  double reference(double a, double b) const { return !reference::has_nan(a, b) && !(b - a > 0); }
};

}  // namespace treadle::functions
