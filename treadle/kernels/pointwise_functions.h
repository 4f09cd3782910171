/// Every pointwise op as one small struct: the function, its derivative, and how to test it.
///
/// A struct is also its op's options: parameters are members with a `describe`. `operator()` maps operands of
/// type T (float for the half types). A unary op with a derivative has `gradient(saved, dy)`, where `saved`
/// is the output if `kSavesOutput`, else the input. Tests draw operands from [kLow, kHigh]; `kTerms` bounds
/// the rounding error in ulps.
#pragma once

#include <cstdint>
#include <type_traits>

#include "treadle/kernels/math.h"

namespace treadle {

/// Lists of types, walked at compile time by the registrations.
template <class... T>
struct TypeList {};

/// Defaults shared by the structs below.
struct PointwiseFunction {
  static constexpr double kLow = -2, kHigh = 2, kTerms = 4;
  static constexpr bool kSavesOutput = false;
  static constexpr bool kNeverNegative = false;  ///< NaN may be among the results
  static constexpr bool kIntegers = false;       ///< whether integer dtypes are taken
  template <class Field>
  static void describe(Field&) {}
};

/// What integers are computed in: unsigned, where overflow wraps. Narrower than int would be promoted to int.
template <class T>
using Wrapping =
    std::conditional_t<std::is_integral_v<T>, std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>, T>;

struct Neg : PointwiseFunction {
  static constexpr const char *kName = "neg", *kSummary = "y = -x";
  static constexpr bool kIntegers = true;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return T(Wrapping<T>(0) - Wrapping<T>(x));
    else
      return -x;
  }
  template <class T>
  TREADLE_DEVICE T gradient(T, T dy) const {
    return T(-dy);
  }
};

struct Abs : PointwiseFunction {
  static constexpr const char *kName = "abs", *kSummary = "y = |x|; the derivative at 0 is 0";
  static constexpr bool kIntegers = true;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return x > T(0) ? x : T(Wrapping<T>(0) - Wrapping<T>(x));  // never -0, and NaN stays
  }
  template <class T>
  TREADLE_DEVICE T gradient(T x, T dy) const {
    return x > T(0) ? dy : x < T(0) ? T(-dy) : T(0) * x;
  }
};

struct Exp : PointwiseFunction {
  static constexpr const char *kName = "exp", *kSummary = "y = e^x";
  static constexpr bool kSavesOutput = true;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return math::exp(x);
  }
  template <class T>
  TREADLE_DEVICE T gradient(T y, T dy) const {
    return y * dy;
  }
};

struct Log : PointwiseFunction {
  static constexpr const char *kName = "log", *kSummary = "y = ln x";
  static constexpr double kLow = 0.2, kHigh = 3;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return math::log(x);
  }
  template <class T>
  TREADLE_DEVICE T gradient(T x, T dy) const {
    return dy / x;
  }
};

struct Sqrt : PointwiseFunction {
  static constexpr const char *kName = "sqrt", *kSummary = "y = √x";
  static constexpr double kLow = 0.2, kHigh = 3;
  static constexpr bool kSavesOutput = true;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return math::sqrt(x);
  }
  template <class T>
  TREADLE_DEVICE T gradient(T y, T dy) const {
    return dy / (T(2) * y);
  }
};

struct Relu : PointwiseFunction {
  static constexpr const char *kName = "relu",
                              *kSummary = "y = max(x, 0); the derivative at 0 is 0, NaN propagates";
  static constexpr bool kSavesOutput = true, kNeverNegative = true;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return x <= T(0) ? T(0) : x;
  }
  template <class T>
  TREADLE_DEVICE T gradient(T y, T dy) const {
    return y <= T(0) ? T(0) : dy;
  }
};

struct LeakyRelu : PointwiseFunction {
  static constexpr const char *kName = "leaky_relu", *kSummary = "y = x for x > 0, slope·x elsewhere";
  double slope = 0.01;
  LeakyRelu() = default;
  explicit LeakyRelu(double slope) : slope(slope) {}
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
    return x > T(0) ? dy : T(slope) * dy;
  }
};

struct Sigmoid : PointwiseFunction {
  static constexpr const char *kName = "sigmoid", *kSummary = "y = 1 / (1 + e^-x)";
  static constexpr bool kSavesOutput = true;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return T(1) / (T(1) + math::exp(-x));
  }
  template <class T>
  TREADLE_DEVICE T gradient(T y, T dy) const {
    return dy * y * (T(1) - y);
  }
};

struct Tanh : PointwiseFunction {
  static constexpr const char *kName = "tanh", *kSummary = "y = tanh x";
  static constexpr bool kSavesOutput = true;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return math::tanh(x);
  }
  template <class T>
  TREADLE_DEVICE T gradient(T y, T dy) const {
    return dy * (T(1) - y * y);
  }
};

struct Gelu : PointwiseFunction {
  static constexpr const char *kName = "gelu",
                              *kSummary = "y = x·Φ(x), Φ the normal distribution (exact, by erf)";
  static constexpr double kTerms = 8;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return x * T(0.5) * (T(1) + math::erf(x * T(0.70710678118654752440)));
  }
  template <class T>
  TREADLE_DEVICE T gradient(T x, T dy) const {
    T cumulative = T(0.5) * (T(1) + math::erf(x * T(0.70710678118654752440)));
    T density = T(0.39894228040143267794) * math::exp(T(-0.5) * x * x);
    return dy * (cumulative + x * density);
  }
};

struct Silu : PointwiseFunction {
  static constexpr const char *kName = "silu", *kSummary = "y = x / (1 + e^-x)";
  static constexpr double kTerms = 6;
  template <class T>
  TREADLE_DEVICE T operator()(T x) const {
    return x / (T(1) + math::exp(-x));
  }
  template <class T>
  TREADLE_DEVICE T gradient(T x, T dy) const {
    T s = T(1) / (T(1) + math::exp(-x));
    return dy * s * (T(1) + x * (T(1) - s));
  }
};

struct Clamp : PointwiseFunction {
  static constexpr const char *kName = "clamp",
                              *kSummary =
                                  "y = min(max(x, low), high), so high where low is larger; NaN "
                                  "where a bound is; the derivative is 0 outside";
  double low = -0.9137, high = 1.0771;
  Clamp() = default;
  Clamp(double low, double high) : low(low), high(high) {}
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
    return x >= T(low) && x <= T(high) ? dy : T(0);
  }
};

using UnaryFunctions = TypeList<Neg, Abs, Exp, Log, Sqrt, Relu, LeakyRelu, Sigmoid, Tanh, Gelu, Silu, Clamp>;

/// The gradient of a unary op as a pointwise op of its own: (saved, dy) → dx.
template <class F>
struct GradientOf : F {
  static constexpr bool kIntegers = false;
  GradientOf() = default;
  explicit GradientOf(const F& f) : F(f) {}
  template <class T>
  TREADLE_DEVICE T operator()(T saved, T dy) const {
    return F::template gradient<T>(saved, dy);
  }
};

struct Add : PointwiseFunction {
  static constexpr const char *kName = "add", *kSummary = "y = a + b, broadcast";
  static constexpr bool kIntegers = true;
  template <class T>
  TREADLE_DEVICE T operator()(T a, T b) const {
    return T(Wrapping<T>(a) + Wrapping<T>(b));
  }
};

struct Sub : PointwiseFunction {
  static constexpr const char *kName = "sub", *kSummary = "y = a - b, broadcast";
  static constexpr bool kIntegers = true;
  template <class T>
  TREADLE_DEVICE T operator()(T a, T b) const {
    return T(Wrapping<T>(a) - Wrapping<T>(b));
  }
};

struct Mul : PointwiseFunction {
  static constexpr const char *kName = "mul", *kSummary = "y = a·b, broadcast";
  static constexpr bool kIntegers = true;
  template <class T>
  TREADLE_DEVICE T operator()(T a, T b) const {
    return T(Wrapping<T>(a) * Wrapping<T>(b));
  }
};

struct Div : PointwiseFunction {
  static constexpr const char *kName = "div", *kSummary = "y = a / b, broadcast";
  static constexpr double kLow = 0.4, kHigh = 2.5;
  template <class T>
  TREADLE_DEVICE T operator()(T a, T b) const {
    return a / b;
  }
};

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

struct Pow : PointwiseFunction {
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
};

struct Maximum : PointwiseFunction {
  static constexpr const char *kName = "maximum",
                              *kSummary =
                                  "y = max(a, b), broadcast; NaN propagates, ties send the gradient to a";
  static constexpr bool kIntegers = true;
  template <class T>
  TREADLE_DEVICE T operator()(T a, T b) const {
    return a >= b || a != a ? a : b;
  }
};

struct Minimum : PointwiseFunction {
  static constexpr const char *kName = "minimum",
                              *kSummary =
                                  "y = min(a, b), broadcast; NaN propagates, ties send the gradient to a";
  static constexpr bool kIntegers = true;
  template <class T>
  TREADLE_DEVICE T operator()(T a, T b) const {
    return a <= b || a != a ? a : b;
  }
};

using BinaryFunctions = TypeList<Add, Sub, Mul, Div, Pow, Maximum, Minimum>;

struct Equal : PointwiseFunction {
  static constexpr const char *kName = "equal", *kSummary = "y = (a == b), broadcast";
  template <class T>
  TREADLE_DEVICE bool operator()(T a, T b) const {
    return a == b;
  }
};

struct NotEqual : PointwiseFunction {
  static constexpr const char *kName = "not_equal", *kSummary = "y = (a ≠ b), broadcast";
  template <class T>
  TREADLE_DEVICE bool operator()(T a, T b) const {
    return a != b;
  }
};

struct Less : PointwiseFunction {
  static constexpr const char *kName = "less", *kSummary = "y = (a < b), broadcast";
  template <class T>
  TREADLE_DEVICE bool operator()(T a, T b) const {
    return a < b;
  }
};

struct LessEqual : PointwiseFunction {
  static constexpr const char *kName = "less_equal", *kSummary = "y = (a ≤ b), broadcast";
  template <class T>
  TREADLE_DEVICE bool operator()(T a, T b) const {
    return a <= b;
  }
};

struct Greater : PointwiseFunction {
  static constexpr const char *kName = "greater", *kSummary = "y = (a > b), broadcast";
  template <class T>
  TREADLE_DEVICE bool operator()(T a, T b) const {
    return a > b;
  }
};

struct GreaterEqual : PointwiseFunction {
  static constexpr const char *kName = "greater_equal", *kSummary = "y = (a ≥ b), broadcast";
  template <class T>
  TREADLE_DEVICE bool operator()(T a, T b) const {
    return a >= b;
  }
};

using ComparisonFunctions = TypeList<Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual>;

}  // namespace treadle
