/// Arithmetic and conversions in the four directions of rounding.
#pragma once

#include <type_traits>

#include "treadle/simt/intrinsics.h"

namespace treadle::TREADLE_TARGET {
namespace toolkit {

/// To nearest even, toward zero, down, up.
enum class Rounding : uint8_t { nearest, zero, down, up };

// Under the processor's own rounding; rounding.cpp. The processor's state costs some 40 ns.
template <class T>
T sum(Rounding rounding, T a, T b);
template <class T>
T product(Rounding rounding, T a, T b);
template <class T>
T quotient(Rounding rounding, T a, T b);
template <class T>
T fused(Rounding rounding, T a, T b, T c);
template <class T>
T root(Rounding rounding, T x);
/// An integer or a double as a float or double.
template <class T, class From>
T floating(Rounding rounding, From x);

/// A floating number as an integer: saturated; NaN gives 0 in 32 bits, and the sign bit alone in 64, as on a
/// GPU.
template <class Integer, class T>
Integer integer(Rounding rounding, T x) {
  constexpr bool kWide = sizeof(Integer) == 8;
  if (x != x) return kWide ? static_cast<Integer>(uint64_t{1} << 63) : Integer{0};
  const T whole = rounding == Rounding::nearest ? std::nearbyint(x)
                  : rounding == Rounding::zero  ? std::trunc(x)
                  : rounding == Rounding::down  ? std::floor(x)
                                                : std::ceil(x);
  constexpr T kEnd = static_cast<T>(2.) *
                     static_cast<T>(static_cast<uint64_t>(1) << (sizeof(Integer) * 8 - 2)) *
                     (std::is_signed_v<Integer> ? 1 : 2);
  constexpr Integer kLargest = std::is_signed_v<Integer>
                                   ? static_cast<Integer>(~uint64_t{0} >> (65 - sizeof(Integer) * 8))
                                   : static_cast<Integer>(~Integer{0});
  if (whole >= kEnd) return kLargest;
  if constexpr (std::is_signed_v<Integer>)
    return whole < -kEnd ? static_cast<Integer>(-kLargest - 1) : static_cast<Integer>(whole);
  else
    return whole <= 0 ? Integer{0} : static_cast<Integer>(whole);
}

}  // namespace toolkit

inline namespace cuda_names {

// clang-format off
// For one direction: float and double operations.
#define TREADLE_DIRECTED(suffix, rounding)                                                                              \
  inline float __fadd_##suffix(float a, float b) { return toolkit::sum(toolkit::Rounding::rounding, a, b); }              \
  inline float __fsub_##suffix(float a, float b) { return toolkit::sum(toolkit::Rounding::rounding, a, -b); }             \
  inline float __fmul_##suffix(float a, float b) { return toolkit::product(toolkit::Rounding::rounding, a, b); }          \
  inline float __fdiv_##suffix(float a, float b) { return toolkit::quotient(toolkit::Rounding::rounding, a, b); }         \
  inline float __frcp_##suffix(float x) { return toolkit::quotient(toolkit::Rounding::rounding, 1.f, x); }                \
  inline float __fsqrt_##suffix(float x) { return toolkit::root(toolkit::Rounding::rounding, x); }                        \
  inline float __fmaf_##suffix(float a, float b, float c) { return toolkit::fused(toolkit::Rounding::rounding, a, b, c); }  \
  inline float __fmaf_ieee_##suffix(float a, float b, float c) { return __fmaf_##suffix(a, b, c); }                       \
  inline double __dadd_##suffix(double a, double b) { return toolkit::sum(toolkit::Rounding::rounding, a, b); }           \
  inline double __dsub_##suffix(double a, double b) { return toolkit::sum(toolkit::Rounding::rounding, a, -b); }          \
  inline double __dmul_##suffix(double a, double b) { return toolkit::product(toolkit::Rounding::rounding, a, b); }       \
  inline double __ddiv_##suffix(double a, double b) { return toolkit::quotient(toolkit::Rounding::rounding, a, b); }      \
  inline double __drcp_##suffix(double x) { return toolkit::quotient(toolkit::Rounding::rounding, 1., x); }               \
  inline double __dsqrt_##suffix(double x) { return toolkit::root(toolkit::Rounding::rounding, x); }                      \
  inline double __fma_##suffix(double a, double b, double c) { return toolkit::fused(toolkit::Rounding::rounding, a, b, c); }
TREADLE_DIRECTED(rz, zero)
TREADLE_DIRECTED(rd, down)
TREADLE_DIRECTED(ru, up)
#undef TREADLE_DIRECTED

// To nearest: what intrinsics.h lacks.
inline double __dsub_rn(double a, double b) { volatile double difference = a - b; return difference; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __drcp_rn(double x) { return 1. / x; }
inline double __dsqrt_rn(double x) { return std::sqrt(x); }
inline float __fmaf_ieee_rn(float a, float b, float c) { return std::fma(a, b, c); }

// Conversions in one direction.
#define TREADLE_TO_INTEGERS(suffix, rounding)                                                                           \
  inline unsigned __float2uint_##suffix(float x) { return toolkit::integer<unsigned>(toolkit::Rounding::rounding, x); }   \
  inline long long __float2ll_##suffix(float x) { return toolkit::integer<long long>(toolkit::Rounding::rounding, x); }   \
  inline unsigned long long __float2ull_##suffix(float x) { return toolkit::integer<unsigned long long>(toolkit::Rounding::rounding, x); } \
  inline int __double2int_##suffix(double x) { return toolkit::integer<int>(toolkit::Rounding::rounding, x); }            \
  inline unsigned __double2uint_##suffix(double x) { return toolkit::integer<unsigned>(toolkit::Rounding::rounding, x); } \
  inline long long __double2ll_##suffix(double x) { return toolkit::integer<long long>(toolkit::Rounding::rounding, x); } \
  inline unsigned long long __double2ull_##suffix(double x) { return toolkit::integer<unsigned long long>(toolkit::Rounding::rounding, x); }
TREADLE_TO_INTEGERS(rn, nearest)
TREADLE_TO_INTEGERS(rz, zero)
TREADLE_TO_INTEGERS(rd, down)
TREADLE_TO_INTEGERS(ru, up)
#undef TREADLE_TO_INTEGERS

#define TREADLE_TO_FLOATING(suffix, rounding)                                                                           \
  inline float __double2float_##suffix(double x) { return toolkit::floating<float>(toolkit::Rounding::rounding, x); }     \
  inline float __ll2float_##suffix(long long x) { return toolkit::floating<float>(toolkit::Rounding::rounding, x); }      \
  inline float __ull2float_##suffix(unsigned long long x) { return toolkit::floating<float>(toolkit::Rounding::rounding, x); } \
  inline double __ll2double_##suffix(long long x) { return toolkit::floating<double>(toolkit::Rounding::rounding, x); }   \
  inline double __ull2double_##suffix(unsigned long long x) { return toolkit::floating<double>(toolkit::Rounding::rounding, x); }
TREADLE_TO_FLOATING(rz, zero)
TREADLE_TO_FLOATING(rd, down)
TREADLE_TO_FLOATING(ru, up)
#undef TREADLE_TO_FLOATING
#define TREADLE_TO_FLOAT(suffix, rounding)                                                                              \
  inline float __int2float_##suffix(int x) { return toolkit::floating<float>(toolkit::Rounding::rounding, static_cast<long long>(x)); } \
  inline float __uint2float_##suffix(unsigned x) { return toolkit::floating<float>(toolkit::Rounding::rounding, static_cast<long long>(x)); }
TREADLE_TO_FLOAT(rz, zero)
TREADLE_TO_FLOAT(rd, down)
TREADLE_TO_FLOAT(ru, up)
#undef TREADLE_TO_FLOAT

inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline int __double2hiint(double x) { return static_cast<int>(std::bit_cast<uint64_t>(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(std::bit_cast<uint64_t>(x)); }
inline double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(uint64_t{static_cast<unsigned>(high)} << 32 | static_cast<unsigned>(low));
}
// clang-format on

}  // namespace cuda_names
}  // namespace treadle::TREADLE_TARGET
