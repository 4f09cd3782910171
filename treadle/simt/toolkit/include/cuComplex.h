/// CUDA's complex numbers: float2 and double2, with functions.
#pragma once

#include <math.h>

#include <vector_types.h>

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// For one precision. Quotients and absolute values scale, so that nothing overflows on the way (Smith,
// Algorithm 116: complex division, 1962).
#define TREADLE_COMPLEX(suffix, Complex, Real, make, hypotenuse, absolute)               \
  inline Real cuCreal##suffix(Complex z) { return z.x; }                                 \
  inline Real cuCimag##suffix(Complex z) { return z.y; }                                 \
  inline Complex make(Real x, Real y) { return {x, y}; }                                 \
  inline Complex cuConj##suffix(Complex z) { return {z.x, -z.y}; }                       \
  inline Complex cuCadd##suffix(Complex a, Complex b) { return {a.x + b.x, a.y + b.y}; } \
  inline Complex cuCsub##suffix(Complex a, Complex b) { return {a.x - b.x, a.y - b.y}; } \
  inline Complex cuCmul##suffix(Complex a, Complex b) {                                  \
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                               \
  }                                                                                      \
  inline Complex cuCdiv##suffix(Complex a, Complex b) {                                  \
    if (absolute(b.x) >= absolute(b.y)) {                                                \
      const Real ratio = b.y / b.x, divisor = b.x + b.y * ratio;                         \
      return {(a.x + a.y * ratio) / divisor, (a.y - a.x * ratio) / divisor};             \
    }                                                                                    \
    const Real ratio = b.x / b.y, divisor = b.x * ratio + b.y;                           \
    return {(a.x * ratio + a.y) / divisor, (a.y * ratio - a.x) / divisor};               \
  }                                                                                      \
  inline Real cuCabs##suffix(Complex z) { return hypotenuse(z.x, z.y); }                 \
  inline Complex cuCfma##suffix(Complex a, Complex b, Complex c) {                       \
    return cuCadd##suffix(cuCmul##suffix(a, b), c);                                      \
  }
TREADLE_COMPLEX(f, cuFloatComplex, float, make_cuFloatComplex, hypotf, fabsf)
TREADLE_COMPLEX(, cuDoubleComplex, double, make_cuDoubleComplex, hypot, fabs)
#undef TREADLE_COMPLEX

inline cuComplex make_cuComplex(float x, float y) { return {x, y}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return {z.x, z.y}; }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return {static_cast<float>(z.x), static_cast<float>(z.y)};
}
