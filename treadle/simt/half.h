/// __half and __nv_bfloat16 with the intrinsics that kernels use. Each operation computes in float and rounds
/// once.
#pragma once

#include "treadle/simt/device.h"

#if TREADLE_TARGET_IS_CUDA
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#else
#include "treadle/core/half.h"

namespace treadle::TREADLE_TARGET {
inline namespace half_names {

using __half = treadle::Float16;
using half = __half;
using __nv_bfloat16 = treadle::BFloat16;
using nv_bfloat16 = __nv_bfloat16;

struct alignas(4) __half2 {
  __half x, y;
};
using half2 = __half2;
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
using nv_bfloat162 = __nv_bfloat162;

template <class T>
concept HalfType = OneOf<T, __half, __nv_bfloat16>;
template <class T>
concept HalfPair = OneOf<T, __half2, __nv_bfloat162>;

}  // namespace half_names

template <>
inline constexpr bool kAddsAtomically<__half> = true;
template <>
inline constexpr bool kAddsAtomically<__nv_bfloat16> = true;
template <>
inline constexpr bool kAddsAtomically<__half2> = true;
template <>
inline constexpr bool kAddsAtomically<__nv_bfloat162> = true;

inline namespace half_names {

// clang-format off
template <HalfType T> T& operator+=(T& a, T b) { return a = a + b; }
template <HalfType T> T& operator-=(T& a, T b) { return a = a - b; }
template <HalfType T> T& operator*=(T& a, T b) { return a = a * b; }
template <HalfType T> T& operator/=(T& a, T b) { return a = a / b; }

template <HalfPair P> P operator+(P a, P b) { return {a.x + b.x, a.y + b.y}; }
template <HalfPair P> P operator-(P a, P b) { return {a.x - b.x, a.y - b.y}; }
template <HalfPair P> P operator*(P a, P b) { return {a.x * b.x, a.y * b.y}; }

inline __half __float2half(float x) { return x; }
inline __half __float2half_rn(float x) { return x; }
inline __half __double2half(double x) { return x; }
inline __half __int2half_rn(int x) { return x; }
inline float __half2float(__half x) { return x; }
inline int __half2int_rn(__half x) { return __float2int_rn(x); }
inline unsigned short __half_as_ushort(__half x) { return x.bits; }
inline __half __ushort_as_half(unsigned short bits) { return __half::from_bits(bits); }
inline __nv_bfloat16 __float2bfloat16(float x) { return x; }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return x; }
inline float __bfloat162float(__nv_bfloat16 x) { return x; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __nv_bfloat16::from_bits(bits); }

inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 __half2half2(__half x) { return {x, x}; }
inline __half2 __float2half2_rn(float x) { return {x, x}; }
inline __half2 __floats2half2_rn(float x, float y) { return {x, y}; }
inline __half2 __float22half2_rn(float2 v) { return {v.x, v.y}; }
inline float2 __half22float2(__half2 v) { return {v.x, v.y}; }
inline __half __low2half(__half2 v) { return v.x; }
inline __half __high2half(__half2 v) { return v.y; }
inline float __low2float(__half2 v) { return v.x; }
inline float __high2float(__half2 v) { return v.y; }
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) { return {v.x, v.y}; }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {v.x, v.y}; }

template <HalfType T> T __hadd(T a, T b) { return a + b; }
template <HalfType T> T __hsub(T a, T b) { return a - b; }
template <HalfType T> T __hmul(T a, T b) { return a * b; }
template <HalfType T> T __hdiv(T a, T b) { return a / b; }
template <HalfType T> T __hneg(T a) { return -a; }
template <HalfType T> T __habs(T a) { return T::from_bits(a.bits & 0x7fffu); }
template <HalfType T> bool __hisnan(T a) { return float(a) != float(a); }
template <HalfType T> bool __heq(T a, T b) { return float(a) == float(b); }
template <HalfType T> bool __hne(T a, T b) { return float(a) != float(b) && !__hisnan(a) && !__hisnan(b); }
template <HalfType T> bool __hlt(T a, T b) { return float(a) < float(b); }
template <HalfType T> bool __hle(T a, T b) { return float(a) <= float(b); }
template <HalfType T> bool __hgt(T a, T b) { return float(a) > float(b); }
template <HalfType T> bool __hge(T a, T b) { return float(a) >= float(b); }
template <HalfType T> T __hmax(T a, T b) { return std::fmax(float(a), float(b)); }
template <HalfType T> T __hmin(T a, T b) { return std::fmin(float(a), float(b)); }
template <HalfType T> T hexp(T a) { return std::exp(float(a)); }
template <HalfType T> T hlog(T a) { return std::log(float(a)); }
template <HalfType T> T hsqrt(T a) { return std::sqrt(float(a)); }
template <HalfType T> T hrsqrt(T a) { return rsqrtf(float(a)); }
template <HalfType T> T hrcp(T a) { return 1.f / float(a); }
template <HalfType T> T hsin(T a) { return std::sin(float(a)); }
template <HalfType T> T hcos(T a) { return std::cos(float(a)); }
template <HalfType T> T htanh(T a) { return std::tanh(float(a)); }
template <HalfType T> T hfloor(T a) { return std::floor(float(a)); }
template <HalfType T> T hceil(T a) { return std::ceil(float(a)); }

template <HalfPair P> P __hadd2(P a, P b) { return a + b; }
template <HalfPair P> P __hsub2(P a, P b) { return a - b; }
template <HalfPair P> P __hmul2(P a, P b) { return a * b; }
template <HalfPair P> P __hmax2(P a, P b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
template <HalfPair P> P __hmin2(P a, P b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
// clang-format on

/// a·b + c with one rounding: the product is exact in double, and the sum is rounded to odd by what it lost
/// (Knuth's two-sum).
template <HalfType T>
T __hfma(T a, T b, T c) {
  const double product = double{float(a)} * double{float(b)}, addend = float(c), sum = product + addend;
  const double taken = sum - product, lost = (product - (sum - taken)) + (addend - taken);
  const auto bits = std::bit_cast<uint64_t>(sum);
  if (!(std::fabs(lost) > 0) || (bits & 1u) != 0) return T(sum);
  return T(std::bit_cast<double>((lost > 0) == (sum > 0) ? bits + 1 : bits - 1));
}

template <HalfPair P>
P __hfma2(P a, P b, P c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}

}  // namespace half_names
}  // namespace treadle::TREADLE_TARGET
#endif
