#pragma once

#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::functions {

/// a^b of integers, wrapping. For b < 0 that is the whole part of the fraction: 1 for a = 1, ±1 for a = -1,
/// else 0.
template <class T>
TREADLE_DEVICE T integer_power(T a, T b) {
  using W = Wrapping<T>;
  if constexpr (std::is_signed_v<T>)
    if (b < T(0)) return a == T(1) ? T(1) : W(a) == W(T(-1)) ? T(W(b) & 1 ? -1 : 1) : T(0);
  W result = 1, square = W(a);
  for (W rest = W(b); rest != 0; rest >>= 1, square *= square)
    if (rest & 1) result *= square;
  return T(result);
}

struct Pow : BinaryFunction {
  static constexpr const char *kName = "pow", *kSummary = "y = a^b, broadcast; integers wrap";
  static constexpr double kLow = 0.4, kHigh = 2.5, kTerms = 16;
  static constexpr bool kIntegers = true;
  template <class T>
  TREADLE_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return integer_power(a, b);
    else
      return math::pow(a, b);
  }

  double reference(double a, double b) const { return std::pow(a, b); }
};

}  // namespace treadle::functions
