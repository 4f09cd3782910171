/// CUDA's mathematical functions that the C and C++ libraries lack. Exact formulas: results on a GPU may
/// differ in the last bits.
#pragma once

#include "treadle/simt/intrinsics.h"

namespace treadle::TREADLE_TARGET {
namespace toolkit {

// In double; math_functions.cpp.
double inverse_erf(double x);
double inverse_erfc(double x);
/// exp(x²)·erfc(x)
double scaled_erfc(double x);
/// Modified Bessel functions of the first kind.
double bessel_i0(double x);
double bessel_i1(double x);
/// sin(πx) and cos(πx), without the rounding of πx.
double sine_of_pi(double x);
double cosine_of_pi(double x);
/// The root of the sum of squares, without overflow.
double norm_of(int count, const double* values);
double norm_of(int count, const float* values);

}  // namespace toolkit

inline namespace cuda_names {

// clang-format off
inline double rcbrt(double x) { return 1. / std::cbrt(x); }
inline float rcbrtf(float x) { return static_cast<float>(rcbrt(static_cast<double>(x))); }
inline float rcbrt(float x) { return rcbrtf(x); }
inline double sinpi(double x) { return toolkit::sine_of_pi(x); }
inline float sinpif(float x) { return static_cast<float>(toolkit::sine_of_pi(x)); }
inline float sinpi(float x) { return sinpif(x); }
inline double cospi(double x) { return toolkit::cosine_of_pi(x); }
inline float cospif(float x) { return static_cast<float>(toolkit::cosine_of_pi(x)); }
inline float cospi(float x) { return cospif(x); }
inline void sincospi(double x, double* sine, double* cosine) { *sine = sinpi(x); *cosine = cospi(x); }
inline void sincospif(float x, float* sine, float* cosine) { *sine = sinpif(x); *cosine = cospif(x); }
inline void sincospi(float x, float* sine, float* cosine) { sincospif(x, sine, cosine); }
inline double erfinv(double x) { return toolkit::inverse_erf(x); }
inline float erfinvf(float x) { return static_cast<float>(toolkit::inverse_erf(x)); }
inline float erfinv(float x) { return erfinvf(x); }
inline double erfcinv(double x) { return toolkit::inverse_erfc(x); }
inline float erfcinvf(float x) { return static_cast<float>(toolkit::inverse_erfc(x)); }
inline float erfcinv(float x) { return erfcinvf(x); }
inline double erfcx(double x) { return toolkit::scaled_erfc(x); }
inline float erfcxf(float x) { return static_cast<float>(toolkit::scaled_erfc(x)); }
inline float erfcx(float x) { return erfcxf(x); }
inline double normcdf(double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); }
inline float normcdf(float x) { return normcdff(x); }
inline double normcdfinv(double p) { return -M_SQRT2 * toolkit::inverse_erfc(2 * p); }
inline float normcdfinvf(float p) { return static_cast<float>(normcdfinv(static_cast<double>(p))); }
inline float normcdfinv(float p) { return normcdfinvf(p); }
inline double cyl_bessel_i0(double x) { return toolkit::bessel_i0(x); }
inline float cyl_bessel_i0f(float x) { return static_cast<float>(toolkit::bessel_i0(x)); }
inline float cyl_bessel_i0(float x) { return cyl_bessel_i0f(x); }
inline double cyl_bessel_i1(double x) { return toolkit::bessel_i1(x); }
inline float cyl_bessel_i1f(float x) { return static_cast<float>(toolkit::bessel_i1(x)); }
inline float cyl_bessel_i1(float x) { return cyl_bessel_i1f(x); }

inline double rhypot(double x, double y) { return 1. / std::hypot(x, y); }
inline float rhypotf(float x, float y) { return static_cast<float>(rhypot(static_cast<double>(x), static_cast<double>(y))); }
inline float rhypot(float x, float y) { return rhypotf(x, y); }
inline double norm3d(double a, double b, double c) { const double v[] = {a, b, c}; return toolkit::norm_of(3, v); }
inline double norm4d(double a, double b, double c, double d) { const double v[] = {a, b, c, d}; return toolkit::norm_of(4, v); }
inline float norm3df(float a, float b, float c) { const float v[] = {a, b, c}; return static_cast<float>(toolkit::norm_of(3, v)); }
inline float norm4df(float a, float b, float c, float d) { const float v[] = {a, b, c, d}; return static_cast<float>(toolkit::norm_of(4, v)); }
inline float norm3d(float a, float b, float c) { return norm3df(a, b, c); }
inline float norm4d(float a, float b, float c, float d) { return norm4df(a, b, c, d); }
inline double norm(int count, const double* values) { return toolkit::norm_of(count, values); }
inline float normf(int count, const float* values) { return static_cast<float>(toolkit::norm_of(count, values)); }
inline float norm(int count, const float* values) { return normf(count, values); }
inline double rnorm3d(double a, double b, double c) { return 1. / norm3d(a, b, c); }
inline double rnorm4d(double a, double b, double c, double d) { return 1. / norm4d(a, b, c, d); }
inline float rnorm3df(float a, float b, float c) { const float v[] = {a, b, c}; return static_cast<float>(1. / toolkit::norm_of(3, v)); }
inline float rnorm4df(float a, float b, float c, float d) { const float v[] = {a, b, c, d}; return static_cast<float>(1. / toolkit::norm_of(4, v)); }
inline float rnorm3d(float a, float b, float c) { return rnorm3df(a, b, c); }
inline float rnorm4d(float a, float b, float c, float d) { return rnorm4df(a, b, c, d); }
inline double rnorm(int count, const double* values) { return 1. / norm(count, values); }
inline float rnormf(int count, const float* values) { return static_cast<float>(1. / toolkit::norm_of(count, values)); }
inline float rnorm(int count, const float* values) { return rnormf(count, values); }

inline float fdividef(float a, float b) { return a / b; }
inline double fdivide(double a, double b) { return a / b; }
inline float fdivide(float a, float b) { return a / b; }
inline float saturate(float x) { return __saturatef(x); }

inline unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
inline long long llmin(long long a, long long b) { return a < b ? a : b; }
inline long long llmax(long long a, long long b) { return a > b ? a : b; }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
inline int mulhi(int a, int b) { return __mulhi(a, b); }
inline unsigned mulhi(unsigned a, unsigned b) { return __umulhi(a, b); }
inline unsigned mulhi(int a, unsigned b) { return __umulhi(static_cast<unsigned>(a), b); }
inline unsigned mulhi(unsigned a, int b) { return __umulhi(a, static_cast<unsigned>(b)); }
inline int mul24(int a, int b) { return __mul24(a, b); }
inline unsigned umul24(unsigned a, unsigned b) { return __umul24(a, b); }
inline long long __mul64hi(long long a, long long b) {
  __extension__ using Wide = __int128;
  return static_cast<long long>(Wide{a} * b >> 64);
}
inline long long mul64hi(long long a, long long b) { return __mul64hi(a, b); }
inline unsigned long long mul64hi(unsigned long long a, unsigned long long b) { return __umul64hi(a, b); }
inline unsigned long long umul64hi(unsigned long long a, unsigned long long b) { return __umul64hi(a, b); }

inline int float_as_int(float x) { return __float_as_int(x); }
inline float int_as_float(int x) { return __int_as_float(x); }
inline unsigned float_as_uint(float x) { return __float_as_uint(x); }
inline float uint_as_float(unsigned x) { return __uint_as_float(x); }

/// c plus |a − b|.
inline unsigned __sad(int a, int b, unsigned c) {
  const int64_t difference = int64_t{a} - b;
  return static_cast<unsigned>(difference < 0 ? -difference : difference) + c;
}
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a < b ? b - a : a - b) + c; }
/// Means, rounded down, and up with an r.
inline int __hadd(int a, int b) { return static_cast<int>((int64_t{a} + b) >> 1); }
inline int __rhadd(int a, int b) { return static_cast<int>((int64_t{a} + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) { return static_cast<unsigned>((uint64_t{a} + b) >> 1); }
inline unsigned __urhadd(unsigned a, unsigned b) { return static_cast<unsigned>((uint64_t{a} + b + 1) >> 1); }
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
/// The place of the offset-th set bit of mask, from base up, or down where offset is negative; ~0 where there
/// is none.
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return mask >> (base & 31u) & 1u ? base : ~0u;
  const int step = offset < 0 ? -1 : 1;
  int left = offset < 0 ? -offset : offset;
  for (int i = static_cast<int>(base); i >= 0 && i < 32; i += step)
    if ((mask >> i & 1u) != 0 && --left == 0) return static_cast<unsigned>(i);
  return ~0u;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 32; i += 8) c += (a >> i & 0xffu) * (b >> i & 0xffu);
  return c;
}
inline int __dp4a(char4 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return c + unsigned{a.x} * b.x + unsigned{a.y} * b.y + unsigned{a.z} * b.z + unsigned{a.w} * b.w;
}
/// c plus the products of a's two 16-bit numbers with the lower (upper) two bytes of b.
inline int __dp2a_lo(int a, int b, int c) {
  return c + static_cast<int16_t>(a) * static_cast<int8_t>(b) + static_cast<int16_t>(a >> 16) * static_cast<int8_t>(b >> 8);
}
inline int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return c + (a & 0xffffu) * (b & 0xffu) + (a >> 16) * (b >> 8 & 0xffu);
}
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return __dp2a_lo(a, b >> 16, c); }
inline int __dp2a_lo(short2 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y; }
inline int __dp2a_hi(short2 a, char4 b, int c) { return c + a.x * b.z + a.y * b.w; }
inline unsigned __dp2a_lo(ushort2 a, uchar4 b, unsigned c) { return c + unsigned{a.x} * b.x + unsigned{a.y} * b.y; }
inline unsigned __dp2a_hi(ushort2 a, uchar4 b, unsigned c) { return c + unsigned{a.x} * b.z + unsigned{a.y} * b.w; }

/// A limit of 2, 3 or 4 values, as Hopper's instructions have it.
inline int __vimax3_s32(int a, int b, int c) { return max(max(a, b), c); }
inline int __vimin3_s32(int a, int b, int c) { return min(min(a, b), c); }
inline unsigned __vimax3_u32(unsigned a, unsigned b, unsigned c) { return max(max(a, b), c); }
inline unsigned __vimin3_u32(unsigned a, unsigned b, unsigned c) { return min(min(a, b), c); }
inline int __vimax_s32_relu(int a, int b) { return max(max(a, b), 0); }
inline int __vimin_s32_relu(int a, int b) { return max(min(a, b), 0); }
inline int __viaddmax_s32(int a, int b, int c) { return max(static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)), c); }
inline int __viaddmin_s32(int a, int b, int c) { return min(static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)), c); }
inline unsigned __viaddmax_u32(unsigned a, unsigned b, unsigned c) { return max(a + b, c); }
inline unsigned __viaddmin_u32(unsigned a, unsigned b, unsigned c) { return min(a + b, c); }
// clang-format on

}  // namespace cuda_names
}  // namespace treadle::TREADLE_TARGET
