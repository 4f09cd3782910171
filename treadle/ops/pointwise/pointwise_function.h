/// A pointwise op is one small struct of functions/: the function, its derivative, and how to test it.
///
/// A struct is also its op's options: parameters are members with a default and a `describe`. `operator()`
/// maps operands of type T (float for the half types). A unary op has `gradient(saved, dy)`, where `saved` is
/// the output if `kSavesOutput`, else the input. `reference` and `reference_gradient` say the same in double,
/// from the definition and not by these functions, so that a mistake does not agree with itself. Tests draw
/// operands from [kLow, kHigh]; `kTerms` bounds the rounding error in ulps.
///
/// `gradient` is run with T an `Expression`, too, for gradients of gradients: of that follow calls of ops
/// instead of numbers. So it chooses by math::select(), whose branches are both computed, and what it does
/// not choose must be finite with a finite derivative wherever the result is.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <type_traits>

#include "treadle/kernels/math.h"

namespace treadle {

/// See expression.h; not for device code.
class Expression;
class Condition;
namespace math {
Expression exp(const Expression& x);
Expression erf(const Expression& x);
Expression sin(const Expression& x);
Expression cos(const Expression& x);
Expression logistic(const Expression& x);
Expression select(const Condition& condition, const Expression& a, const Expression& b);
}  // namespace math

/// Defaults shared by the structs.
struct PointwiseFunction {
  static constexpr double kLow = -2, kHigh = 2, kTerms = 4;
  static constexpr bool kIntegers = false;  ///< whether integer dtypes are taken
  template <class Field>
  static void describe(Field&) {}
};

struct UnaryFunction : PointwiseFunction {
  static constexpr int kOperands = 1;
  static constexpr bool kSavesOutput = false;
  static constexpr bool kPiecewiseLinear = false;  ///< the second derivative is 0 wherever there is one
  static constexpr bool kNeverNegative = false;    ///< NaN may be among the results
  static constexpr bool kIntegersAsFloat =
      false;  ///< whether the typed function takes integers and bool as f32
};

/// Of two operands, broadcast.
struct BinaryFunction : PointwiseFunction {
  static constexpr int kOperands = 2;
};

/// Of two operands of any dtype; gives bool.
struct ComparisonFunction : PointwiseFunction {
  static constexpr int kOperands = 2;
};

/// The gradient of a unary op as a pointwise op of its own: (saved, dy) → dx.
template <class F>
struct GradientOf : F {
  static constexpr int kOperands = 2;
  static constexpr bool kIntegers = false;
  GradientOf() = default;
  explicit GradientOf(const F& f) : F(f) {}
  template <class T>
  TREADLE_DEVICE T operator()(T saved, T dy) const {
    return F::template gradient<T>(saved, dy);
  }
  double reference(double saved, double dy) const { return F::reference_gradient(saved, dy); }
};

/// What integers are computed in: unsigned, where overflow wraps. Narrower than int would be promoted to int.
template <class T>
using Wrapping =
    std::conditional_t<std::is_integral_v<T>, std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>, T>;

/// In double, for references.
namespace reference {
inline double logistic(double x) { return 1 / (1 + std::exp(-x)); }
/// Φ, the normal distribution, and its density φ.
inline double normal_distribution(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }
inline double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }
inline bool has_nan(double a, double b) { return std::isnan(a) || std::isnan(b); }
}  // namespace reference

}  // namespace treadle
