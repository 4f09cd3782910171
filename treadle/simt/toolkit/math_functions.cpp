#include "treadle/simt/toolkit/math_functions.h"

#include <limits>

namespace treadle::TREADLE_TARGET::toolkit {
namespace {

/// A first value of the inverse of erf from w = −log(1 − x²). Giles, Approximating the erfinv function, 2011
/// (single precision).
double approximate_inverse_erf(double x, double w) {
  constexpr double kCentral[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                 -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                 -0.00417768164,  0.246640727,    1.50140941};
  constexpr double kTail[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                              -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  const bool central = w < 5;
  const double t = central ? w - 2.5 : std::sqrt(w) - 3;
  double p = 0;
  for (int i = 0; i < 9; ++i) p = p * t + (central ? kCentral[i] : kTail[i]);
  return p * x;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
double scaled_norm(int count, const T* values) {
  double largest = 0;
  for (int i = 0; i < count; ++i) largest = std::fmax(largest, std::fabs(static_cast<double>(values[i])));
  if (largest == 0 || std::isinf(largest)) return largest;
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += (values[i] / largest) * (values[i] / largest);
  return largest * std::sqrt(sum);
}

}  // namespace

double inverse_erf(double x) {
  if (!(std::fabs(x) <= 1)) return NAN;
  if (std::fabs(x) == 1) return std::copysign(kInfinity, x);
  if (std::fabs(x) > 0.5) return std::copysign(inverse_erfc(1 - std::fabs(x)), x);
  double y = approximate_inverse_erf(x, -std::log1p(-x * x));
  for (int step = 0; step < 2; ++step) {  // Halley's method
    const double f = (std::erf(y) - x) * (std::sqrt(M_PI) / 2) * std::exp(y * y);
    y -= f / (1 + f * y);
  }
  return y;
}

double inverse_erfc(double x) {
  if (!(x >= 0 && x <= 2)) return NAN;
  if (x == 0) return kInfinity;
  if (x == 2) return -kInfinity;
  if (x > 1.5) return -inverse_erfc(2 - x);
  if (x > 0.5) return inverse_erf(1 - x);
  // Where the approximation ends: the leading terms of erfc(y) = exp(−y²)/(y√π) … .
  const double w = -std::log(x * (2 - x)), size = -std::log(x);
  double y = w < 15 ? approximate_inverse_erf(1 - x, w) : std::sqrt(size - 0.5 * std::log(M_PI * size));
  // Newton's method for log(erfc), whose steps do not vanish in the tail.
  for (int step = 0; step < 3; ++step) {
    const double value = std::erfc(y);
    const double slope = -2 / std::sqrt(M_PI) * std::exp(-y * y) / value;
    y -= (std::log(value) - std::log(x)) / slope;
  }
  return y;
}

double scaled_erfc(double x) {
  if (x < -26.7) return kInfinity;
  if (x < 25) {
    const double square = x * x, lost = std::fma(x, x, -square);
    return std::exp(square) * (1 + lost) * std::erfc(x);
  }
  // Laplace's continued fraction, from its far end.
  double fraction = x;
  for (int k = 20; k >= 1; --k) fraction = x + k / (2 * fraction);
  return 1 / (fraction * std::sqrt(M_PI));
}

double bessel_i0(double x) { return std::cyl_bessel_i(0., std::fabs(x)); }
double bessel_i1(double x) { return std::copysign(std::cyl_bessel_i(1., std::fabs(x)), x); }

double sine_of_pi(double x) {
  if (std::isinf(x)) return NAN;
  const double r = std::remainder(x, 2.);  // exact, in [−1, 1]
  if (std::fabs(r) == 1 || r == 0) return std::copysign(0., x);
  const double folded = std::fabs(r) > 0.5 ? std::copysign(1 - std::fabs(r), r) : r;
  return std::fabs(folded) > 0.25 ? std::copysign(std::cos(M_PI * (0.5 - std::fabs(folded))), folded)
                                  : std::sin(M_PI * folded);
}

double cosine_of_pi(double x) {
  if (std::isinf(x)) return NAN;
  const double r = std::fabs(std::remainder(x, 2.));
  if (r == 0.5) return 0;
  return r < 0.25 ? std::cos(M_PI * r) : r > 0.75 ? -std::cos(M_PI * (1 - r)) : std::sin(M_PI * (0.5 - r));
}

double norm_of(int count, const double* values) { return scaled_norm(count, values); }
double norm_of(int count, const float* values) { return scaled_norm(count, values); }

}  // namespace treadle::TREADLE_TARGET::toolkit
