/// CUDA's arithmetic intrinsics. The approximate ones compute the exact function: results on a GPU may differ
/// in the last bits.
#pragma once

#include <math.h>
#include <time.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "treadle/simt/built_ins.h"

namespace treadle::TREADLE_TARGET {

// What the C library declares as well, so that programs find it there (toolkit/fast_math.cpp).
// clang-format off
inline void sincosf(float x, float* sine, float* cosine) { *sine = std::sin(x); *cosine = std::cos(x); }
inline float exp10f(float x) { return std::pow(10.f, x); }
inline float __expf(float x) { return std::exp(x); }
inline float __exp10f(float x) { return std::pow(10.f, x); }
inline float __logf(float x) { return std::log(x); }
inline float __log2f(float x) { return std::log2(x); }
inline float __log10f(float x) { return std::log10(x); }
inline float __powf(float x, float y) { return std::pow(x, y); }
inline float __sinf(float x) { return std::sin(x); }
inline float __cosf(float x) { return std::cos(x); }
inline float __tanf(float x) { return std::tan(x); }
inline void __sincosf(float x, float* sine, float* cosine) { *sine = std::sin(x); *cosine = std::cos(x); }

/// Rounds a float that a GPU would saturate; NaN gives 0.
inline int saturated_int(float x) {
  if (x != x) return 0;
  return x >= 2147483648.f ? INT32_MAX : x <= -2147483648.f ? INT32_MIN : static_cast<int>(x);
}

inline namespace cuda_names {

inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }

inline unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
  const unsigned low = static_cast<unsigned>(x), high = static_cast<unsigned>(x >> 32);
  return static_cast<unsigned long long>(__brev(low)) << 32 | __brev(high);
}

/// Byte i of the result is byte (selector >> 4i & 7) of the eight bytes y:x.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const uint64_t bytes = uint64_t{y} << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i)
    result |= static_cast<unsigned>(bytes >> 8 * (selector >> 4 * i & 7u) & 0xffu) << 8 * i;
  return result;
}
/// The upper 32 bits of high:low shifted left by shift mod 32.
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) << (shift & 31u) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) >> (shift & 31u));
}

inline int __mulhi(int a, int b) { return static_cast<int>(int64_t{a} * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(uint64_t{a} * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<unsigned long long>(Wide{a} * b >> 64);
}
/// The low 32 bits of the product of the low 24 bits.
inline int __mul24(int a, int b) {
  const int64_t signed_a = static_cast<int>(static_cast<unsigned>(a) << 8) >> 8;
  const int64_t signed_b = static_cast<int>(static_cast<unsigned>(b) << 8) >> 8;
  return static_cast<int>(static_cast<uint32_t>(signed_a * signed_b));
}
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }

/// c plus the dot product of the four signed bytes of a and b.
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) c += static_cast<int8_t>(a >> i) * static_cast<int8_t>(b >> i);
  return c;
}

inline float __fdividef(float a, float b) { return a / b; }
inline float rsqrtf(float x) { return 1.f / std::sqrt(x); }
inline double rsqrt(double x) { return 1. / std::sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float __frsqrt_rn(float x) { return rsqrtf(x); }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline float __frcp_rn(float x) { return 1.f / x; }
inline float __saturatef(float x) { return x > 0.f ? (x < 1.f ? x : 1.f) : 0.f; }
/// The standard normal distribution function.
inline float normcdff(float x) { return 0.5f * std::erfc(-x * static_cast<float>(M_SQRT1_2)); }

// The volatile results keep the compiler from fusing a product with a sum, which these forbid.
inline float __fadd_rn(float a, float b) { volatile float sum = a + b; return sum; }
inline float __fsub_rn(float a, float b) { volatile float difference = a - b; return difference; }
inline float __fmul_rn(float a, float b) { volatile float product = a * b; return product; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __dadd_rn(double a, double b) { volatile double sum = a + b; return sum; }
inline double __dmul_rn(double a, double b) { volatile double product = a * b; return product; }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }

inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }

inline int __float2int_rn(float x) { return saturated_int(std::nearbyint(x)); }
inline int __float2int_rz(float x) { return saturated_int(x); }
inline int __float2int_rd(float x) { return saturated_int(std::floor(x)); }
inline int __float2int_ru(float x) { return saturated_int(std::ceil(x)); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }

// CUDA's overloads: mixed signedness compares as unsigned, mixed floating types as double; of a NaN and a number the
// number is taken.
#define TREADLE_MIN_MAX(R, A, B)                                                       \
  inline R min(A a, B b) {                                                             \
    return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(a) : static_cast<R>(b); \
  }                                                                                    \
  inline R max(A a, B b) {                                                             \
    return static_cast<R>(a) > static_cast<R>(b) ? static_cast<R>(a) : static_cast<R>(b); \
  }
#define TREADLE_MIN_MAX_OF_INTEGER(Integer)                       \
  TREADLE_MIN_MAX(Integer, Integer, Integer)                      \
  TREADLE_MIN_MAX(unsigned Integer, unsigned Integer, unsigned Integer) \
  TREADLE_MIN_MAX(unsigned Integer, Integer, unsigned Integer)    \
  TREADLE_MIN_MAX(unsigned Integer, unsigned Integer, Integer)
TREADLE_MIN_MAX_OF_INTEGER(int)
TREADLE_MIN_MAX_OF_INTEGER(long)
TREADLE_MIN_MAX_OF_INTEGER(long long)
#undef TREADLE_MIN_MAX_OF_INTEGER
#undef TREADLE_MIN_MAX
inline float min(float a, float b) { return std::fmin(a, b); }
inline float max(float a, float b) { return std::fmax(a, b); }
inline double min(double a, double b) { return std::fmin(a, b); }
inline double max(double a, double b) { return std::fmax(a, b); }
inline double min(float a, double b) { return std::fmin(double{a}, b); }
inline double max(float a, double b) { return std::fmax(double{a}, b); }
inline double min(double a, float b) { return std::fmin(a, double{b}); }
inline double max(double a, float b) { return std::fmax(a, double{b}); }
// clang-format on

/// Nanoseconds of a steady clock; on a GPU cycles.
inline long long clock64() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}
}  // namespace cuda_names

inline int clock() { return static_cast<int>(clock64()); }

/// Ends the grid with SimtError, as it ends a GPU's with a launch failure.
[[noreturn]] void __trap();

}  // namespace treadle::TREADLE_TARGET
