/// What the pointwise ops are in double, for references: written from their definitions, and not by the
/// functions that the variants call, so that a mistake in those does not agree with itself.
#pragma once

#include <cmath>
#include <numbers>

#include "treadle/kernels/pointwise_functions.h"

namespace treadle::reference {

inline double logistic(double x) { return 1 / (1 + std::exp(-x)); }
/// Φ, the normal distribution, and its density φ.
inline double normal_distribution(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }
inline double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }

inline double value_of(const Neg&, double x) { return -x; }
inline double value_of(const Abs&, double x) { return std::fabs(x); }
inline double value_of(const Exp&, double x) { return std::exp(x); }
inline double value_of(const Log&, double x) { return std::log(x); }
inline double value_of(const Sqrt&, double x) { return std::sqrt(x); }
inline double value_of(const Relu&, double x) { return x < 0 ? 0 : x; }
inline double value_of(const LeakyRelu& f, double x) { return x < 0 ? f.slope * x : x; }
inline double value_of(const Sigmoid&, double x) { return logistic(x); }
inline double value_of(const Tanh&, double x) { return std::tanh(x); }
inline double value_of(const Gelu&, double x) { return x * normal_distribution(x); }
inline double value_of(const Silu&, double x) { return x * logistic(x); }
inline double value_of(const Clamp& f, double x) {
  if (std::isnan(x) || std::isnan(f.low) || std::isnan(f.high)) return NAN;
  return std::min(std::max(x, f.low), f.high);
}

/// Derivatives times dy; `saved` is what the op saves, its output or its input.
inline double value_of(const GradientOf<Neg>&, double, double dy) { return -dy; }
inline double value_of(const GradientOf<Abs>&, double x, double dy) {
  return std::isnan(x) ? x : dy * double((x > 0) - (x < 0));
}
inline double value_of(const GradientOf<Exp>&, double y, double dy) { return dy * y; }
inline double value_of(const GradientOf<Log>&, double x, double dy) { return dy / x; }
inline double value_of(const GradientOf<Sqrt>&, double y, double dy) { return dy / (y + y); }
inline double value_of(const GradientOf<Relu>&, double y, double dy) { return y <= 0 ? 0 : dy; }
inline double value_of(const GradientOf<LeakyRelu>& f, double x, double dy) {
  return x > 0 ? dy : f.slope * dy;
}
inline double value_of(const GradientOf<Sigmoid>&, double y, double dy) { return dy * (y - y * y); }
inline double value_of(const GradientOf<Tanh>&, double y, double dy) { return dy - dy * y * y; }
inline double value_of(const GradientOf<Gelu>&, double x, double dy) {
  return dy * (normal_distribution(x) + x * normal_density(x));
}
inline double value_of(const GradientOf<Silu>&, double x, double dy) {
  return dy * (logistic(x) + x * logistic(x) * logistic(-x));
}
inline double value_of(const GradientOf<Clamp>& f, double x, double dy) {
  return f.low <= x && x <= f.high ? dy : 0;
}

inline bool has_nan(double a, double b) { return std::isnan(a) || std::isnan(b); }

inline double value_of(const Add&, double a, double b) { return a + b; }
inline double value_of(const Sub&, double a, double b) { return a - b; }
inline double value_of(const Mul&, double a, double b) { return a * b; }
inline double value_of(const Div&, double a, double b) { return a / b; }
inline double value_of(const Pow&, double a, double b) { return std::pow(a, b); }
inline double value_of(const Maximum&, double a, double b) { return has_nan(a, b) ? NAN : std::max(a, b); }
inline double value_of(const Minimum&, double a, double b) { return has_nan(a, b) ? NAN : std::min(a, b); }

inline double value_of(const Equal&, double a, double b) { return !has_nan(a, b) && a - b == 0; }
inline double value_of(const NotEqual&, double a, double b) { return has_nan(a, b) || a - b != 0; }
inline double value_of(const Less&, double a, double b) { return b - a > 0; }
inline double value_of(const LessEqual&, double a, double b) { return !has_nan(a, b) && !(a - b > 0); }
inline double value_of(const Greater&, double a, double b) { return a - b > 0; }
inline double value_of(const GreaterEqual&, double a, double b) { return !has_nan(a, b) && !(b - a > 0); }

}  // namespace treadle::reference
