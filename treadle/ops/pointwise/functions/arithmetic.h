#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

struct Add : BinaryFunction {
  static constexpr const char *kName = "add", *kSummary = "y = a + b, broadcast";
  static constexpr bool kIntegers = true;
  template <class T>
  TREADLE_DEVICE T operator()(T a, T b) const {
    return T(Wrapping<T>(a) + Wrapping<T>(b));
  }

  double reference(double a, double b) const { return a + b; }
};

struct Sub : BinaryFunction {
  static constexpr const char *kName = "sub", *kSummary = "y = a - b, broadcast";
  static constexpr bool kIntegers = true;
  template <class T>
  TREADLE_DEVICE T operator()(T a, T b) const {
    return T(Wrapping<T>(a) - Wrapping<T>(b));
  }

  double reference(double a, double b) const { return a - b; }
};

struct Mul : BinaryFunction {
  static constexpr const char *kName = "mul", *kSummary = "y = a·b, broadcast";
  static constexpr bool kIntegers = true;
  template <class T>
  TREADLE_DEVICE T operator()(T a, T b) const {
    return T(Wrapping<T>(a) * Wrapping<T>(b));
  }

  double reference(double a, double b) const { return a * b; }
};

struct Div : BinaryFunction {
  static constexpr const char *kName = "div", *kSummary = "y = a / b, broadcast";
  static constexpr double kLow = 0.4, kHigh = 2.5;
  template <class T>
  TREADLE_DEVICE T operator()(T a, T b) const {
    return a / b;
  }

  double reference(double a, double b) const { return a / b; }
};

}  // namespace treadle::functions
