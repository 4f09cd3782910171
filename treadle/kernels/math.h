/// Scalar functions by overload on float and double, the same names in device and host code. On a GPU those
/// of float are CUDA's, on the host those of vector_math.h where it has them.
#pragma once

#include <cmath>

#include "treadle/kernels/vector_math.h"
#include "treadle/simt/function_qualifiers.h"

#if defined(__CUDA_ARCH__)
#define TREADLE_FLOAT_FUNCTION(name) ::name##f
#else
#define TREADLE_FLOAT_FUNCTION(name) vector_math::name
#endif

namespace treadle::math {

TREADLE_DEVICE inline float exp(float x) { return TREADLE_FLOAT_FUNCTION(exp)(x); }
TREADLE_DEVICE inline double exp(double x) { return ::exp(x); }
TREADLE_DEVICE inline float expm1(float x) { return TREADLE_FLOAT_FUNCTION(expm1)(x); }
TREADLE_DEVICE inline double expm1(double x) { return ::expm1(x); }
TREADLE_DEVICE inline float log(float x) { return TREADLE_FLOAT_FUNCTION(log)(x); }
TREADLE_DEVICE inline double log(double x) { return ::log(x); }
TREADLE_DEVICE inline float log1p(float x) { return TREADLE_FLOAT_FUNCTION(log1p)(x); }
TREADLE_DEVICE inline double log1p(double x) { return ::log1p(x); }
TREADLE_DEVICE inline float sqrt(float x) { return ::sqrtf(x); }
TREADLE_DEVICE inline double sqrt(double x) { return ::sqrt(x); }
TREADLE_DEVICE inline float tanh(float x) { return TREADLE_FLOAT_FUNCTION(tanh)(x); }
TREADLE_DEVICE inline double tanh(double x) { return ::tanh(x); }
TREADLE_DEVICE inline float erf(float x) { return TREADLE_FLOAT_FUNCTION(erf)(x); }
TREADLE_DEVICE inline double erf(double x) { return ::erf(x); }
TREADLE_DEVICE inline float pow(float x, float y) { return ::powf(x, y); }
TREADLE_DEVICE inline double pow(double x, double y) { return ::pow(x, y); }
TREADLE_DEVICE inline float cos(float x) { return ::cosf(x); }
TREADLE_DEVICE inline double cos(double x) { return ::cos(x); }
TREADLE_DEVICE inline float sin(float x) { return ::sinf(x); }
TREADLE_DEVICE inline double sin(double x) { return ::sin(x); }

/// 1 / (1 + e^-x).
TREADLE_DEVICE inline float logistic(float x) { return 1.0f / (1.0f + exp(-x)); }
TREADLE_DEVICE inline double logistic(double x) { return 1.0 / (1.0 + exp(-x)); }
/// What `condition ? a : b` is, of values that are there either way.
template <class T>
TREADLE_DEVICE inline T select(bool condition, T a, T b) {
  return condition ? a : b;
}

}  // namespace treadle::math

#undef TREADLE_FLOAT_FUNCTION
