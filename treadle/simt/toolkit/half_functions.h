/// What half.h lacks of CUDA's functions for half precision and bfloat16: conversions in all directions,
/// saturated arithmetic, comparisons of pairs, mathematics.
#pragma once

#include "treadle/simt/half.h"
#include "treadle/simt/toolkit/rounding.h"

namespace treadle::TREADLE_TARGET {
namespace toolkit {

/// The next value up or down; from a zero the smallest one.
template <HalfType T>
T neighbour(T x, bool up) {
  if ((x.bits & 0x7fffu) == 0) return T::from_bits(up ? 0x0001u : 0x8001u);
  const bool away = up == ((x.bits & 0x8000u) == 0);
  return T::from_bits(static_cast<uint16_t>(away ? x.bits + 1 : x.bits - 1));
}

/// A number rounded in one direction: the nearest value, or its neighbour where that lies on the wrong side.
template <HalfType T, class From>
T half_of(Rounding rounding, From value) {
  const T nearest(value);
  const long double exact = value, found = float(nearest);
  if (rounding == Rounding::nearest || exact == found || exact != exact) return nearest;
  const bool is_above = found > exact;
  const bool wants_above = rounding == Rounding::up || (rounding == Rounding::zero && exact < 0);
  return is_above == wants_above ? nearest : neighbour(nearest, wants_above);
}

template <HalfType T>
T saturated(T x) {
  const float value = float(x);
  return value > 0 ? (value < 1 ? x : T(1.f)) : T(0.f);  // NaN becomes 0
}

template <HalfType T>
T relu(T x) {
  return float(x) < 0 ? T(0.f) : x;
}

}  // namespace toolkit

inline namespace half_names {

struct __half_raw {
  unsigned short x;
};
struct __nv_bfloat16_raw {
  unsigned short x;
};

// clang-format off
// Conversions of one type of numbers.
#define TREADLE_HALF_CONVERSION(Half, half, name, Type, suffix, rounding)                                                       \
  inline Type __##half##2##name##_##suffix(Half x) { return toolkit::integer<Type>(toolkit::Rounding::rounding, float(x)); }    \
  inline Half __##name##2##half##_##suffix(Type x) { return toolkit::half_of<Half>(toolkit::Rounding::rounding, x); }
#define TREADLE_HALF_CONVERSIONS(Half, half, name, Type)        \
  TREADLE_HALF_CONVERSION(Half, half, name, Type, rn, nearest)  \
  TREADLE_HALF_CONVERSION(Half, half, name, Type, rz, zero)     \
  TREADLE_HALF_CONVERSION(Half, half, name, Type, rd, down)     \
  TREADLE_HALF_CONVERSION(Half, half, name, Type, ru, up)
#define TREADLE_HALF_ALL_CONVERSIONS(Half, half)                        \
  TREADLE_HALF_CONVERSIONS(Half, half, uint, unsigned)                  \
  TREADLE_HALF_CONVERSIONS(Half, half, short, short)                    \
  TREADLE_HALF_CONVERSIONS(Half, half, ushort, unsigned short)          \
  TREADLE_HALF_CONVERSIONS(Half, half, ll, long long)                   \
  TREADLE_HALF_CONVERSIONS(Half, half, ull, unsigned long long)         \
  TREADLE_HALF_CONVERSION(Half, half, int, int, rz, zero)               \
  TREADLE_HALF_CONVERSION(Half, half, int, int, rd, down)               \
  TREADLE_HALF_CONVERSION(Half, half, int, int, ru, up)                 \
  inline Half __float2##half##_rz(float x) { return toolkit::half_of<Half>(toolkit::Rounding::zero, x); }   \
  inline Half __float2##half##_rd(float x) { return toolkit::half_of<Half>(toolkit::Rounding::down, x); }   \
  inline Half __float2##half##_ru(float x) { return toolkit::half_of<Half>(toolkit::Rounding::up, x); }     \
  inline signed char __##half##2char_rz(Half x) { return toolkit::integer<signed char>(toolkit::Rounding::zero, float(x)); }       \
  inline unsigned char __##half##2uchar_rz(Half x) { return toolkit::integer<unsigned char>(toolkit::Rounding::zero, float(x)); }  \
  inline short __##half##_as_short(Half x) { return static_cast<short>(x.bits); }                           \
  inline Half __short_as_##half(short bits) { return Half::from_bits(static_cast<uint16_t>(bits)); }
TREADLE_HALF_ALL_CONVERSIONS(__half, half)
TREADLE_HALF_ALL_CONVERSIONS(__nv_bfloat16, bfloat16)
#undef TREADLE_HALF_ALL_CONVERSIONS
#undef TREADLE_HALF_CONVERSIONS
#undef TREADLE_HALF_CONVERSION
inline int __bfloat162int_rn(__nv_bfloat16 x) { return toolkit::integer<int>(toolkit::Rounding::nearest, float(x)); }
inline __nv_bfloat16 __int2bfloat16_rn(int x) { return x; }
inline __nv_bfloat16 __double2bfloat16(double x) { return x; }

// Parts of pairs; bfloat16's names differ.
inline __half2 __low2half2(__half2 v) { return {v.x, v.x}; }
inline __half2 __high2half2(__half2 v) { return {v.y, v.y}; }
inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
inline __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
inline float __low2float(__nv_bfloat162 v) { return v.x; }
inline float __high2float(__nv_bfloat162 v) { return v.y; }
inline __nv_bfloat162 __low2bfloat162(__nv_bfloat162 v) { return {v.x, v.x}; }
inline __nv_bfloat162 __high2bfloat162(__nv_bfloat162 v) { return {v.y, v.y}; }
inline __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x, b.x}; }
inline __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.y, b.y}; }
inline __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 v) { return {v.y, v.x}; }
inline __nv_bfloat162 __float2bfloat162_rn(float x) { return {x, x}; }
inline __nv_bfloat162 make_bfloat162(float x, float y) { return {x, y}; }

template <HalfType T> T __hadd_rn(T a, T b) { return a + b; }
template <HalfType T> T __hsub_rn(T a, T b) { return a - b; }
template <HalfType T> T __hmul_rn(T a, T b) { return a * b; }
template <HalfType T> T __hadd_sat(T a, T b) { return toolkit::saturated(a + b); }
template <HalfType T> T __hsub_sat(T a, T b) { return toolkit::saturated(a - b); }
template <HalfType T> T __hmul_sat(T a, T b) { return toolkit::saturated(a * b); }
template <HalfType T> T __hfma_sat(T a, T b, T c) { return toolkit::saturated(__hfma(a, b, c)); }
template <HalfType T> T __hfma_relu(T a, T b, T c) { return toolkit::relu(__hfma(a, b, c)); }
template <HalfPair P> P __hadd2_rn(P a, P b) { return a + b; }
template <HalfPair P> P __hsub2_rn(P a, P b) { return a - b; }
template <HalfPair P> P __hmul2_rn(P a, P b) { return a * b; }
template <HalfPair P> P operator/(P a, P b) { return {a.x / b.x, a.y / b.y}; }
template <HalfPair P> P operator-(P a) { return {-a.x, -a.y}; }
template <HalfPair P> P& operator+=(P& a, P b) { return a = a + b; }
template <HalfPair P> P& operator-=(P& a, P b) { return a = a - b; }
template <HalfPair P> P& operator*=(P& a, P b) { return a = a * b; }
template <HalfPair P> P& operator/=(P& a, P b) { return a = a / b; }
template <HalfPair P> P __h2div(P a, P b) { return a / b; }
template <HalfPair P> P __hneg2(P a) { return -a; }
template <HalfPair P> P __habs2(P a) { return {__habs(a.x), __habs(a.y)}; }
template <HalfPair P> P __hadd2_sat(P a, P b) { return {__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y)}; }
template <HalfPair P> P __hsub2_sat(P a, P b) { return {__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y)}; }
template <HalfPair P> P __hmul2_sat(P a, P b) { return {__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y)}; }
template <HalfPair P> P __hfma2_sat(P a, P b, P c) { return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)}; }
template <HalfPair P> P __hfma2_relu(P a, P b, P c) { return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)}; }
/// Complex numbers: a·b + c.
template <HalfPair P> P __hcmadd(P a, P b, P c) {
  return {__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.x, b.y, __hfma(a.y, b.x, c.y))};
}

template <HalfType T> int __hisinf(T a) {
  return std::isinf(float(a)) ? (float(a) < 0 ? -1 : 1) : 0;
}
/// Of a number and a NaN the NaN.
template <HalfType T> T __hmax_nan(T a, T b) { return __hisnan(a) || __hisnan(b) ? T(NAN) : __hmax(a, b); }
template <HalfType T> T __hmin_nan(T a, T b) { return __hisnan(a) || __hisnan(b) ? T(NAN) : __hmin(a, b); }
template <HalfPair P> P __hmax2_nan(P a, P b) { return {__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)}; }
template <HalfPair P> P __hmin2_nan(P a, P b) { return {__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)}; }
template <HalfPair P> P __hisnan2(P a) { return {__hisnan(a.x) ? 1.f : 0.f, __hisnan(a.y) ? 1.f : 0.f}; }

// Comparisons: with u true also where one is a NaN; of pairs 1 and 0, whether both hold (b), or masks.
#define TREADLE_HALF_COMPARISON(name)                                                                                   \
  template <HalfType T> bool __h##name##u(T a, T b) { return __h##name(a, b) || __hisnan(a) || __hisnan(b); }           \
  template <HalfPair P> P __h##name##2(P a, P b) { return {__h##name(a.x, b.x) ? 1.f : 0.f, __h##name(a.y, b.y) ? 1.f : 0.f}; }     \
  template <HalfPair P> P __h##name##u2(P a, P b) { return {__h##name##u(a.x, b.x) ? 1.f : 0.f, __h##name##u(a.y, b.y) ? 1.f : 0.f}; } \
  template <HalfPair P> bool __hb##name##2(P a, P b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }             \
  template <HalfPair P> bool __hb##name##u2(P a, P b) { return __h##name##u(a.x, b.x) && __h##name##u(a.y, b.y); }      \
  template <HalfPair P> unsigned __h##name##2_mask(P a, P b) {                                                          \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);                             \
  }
TREADLE_HALF_COMPARISON(eq)
TREADLE_HALF_COMPARISON(ne)
TREADLE_HALF_COMPARISON(lt)
TREADLE_HALF_COMPARISON(le)
TREADLE_HALF_COMPARISON(gt)
TREADLE_HALF_COMPARISON(ge)
#undef TREADLE_HALF_COMPARISON
template <HalfPair P> bool operator==(P a, P b) { return __hbeq2(a, b); }
template <HalfPair P> bool operator!=(P a, P b) { return __hbneu2(a, b); }

template <HalfType T> T htrunc(T a) { return std::trunc(float(a)); }
template <HalfType T> T hrint(T a) { return std::nearbyint(float(a)); }
template <HalfType T> T hexp2(T a) { return std::exp2(float(a)); }
template <HalfType T> T hexp10(T a) { return std::pow(10., double(float(a))); }
template <HalfType T> T hlog2(T a) { return std::log2(float(a)); }
template <HalfType T> T hlog10(T a) { return std::log10(float(a)); }
template <HalfType T> T htanh_approx(T a) { return std::tanh(float(a)); }
#define TREADLE_HALF_OF_PAIR(name) \
  template <HalfPair P> P h2##name(P a) { return {h##name(a.x), h##name(a.y)}; }
TREADLE_HALF_OF_PAIR(ceil)
TREADLE_HALF_OF_PAIR(floor)
TREADLE_HALF_OF_PAIR(trunc)
TREADLE_HALF_OF_PAIR(rint)
TREADLE_HALF_OF_PAIR(sqrt)
TREADLE_HALF_OF_PAIR(rsqrt)
TREADLE_HALF_OF_PAIR(rcp)
TREADLE_HALF_OF_PAIR(exp)
TREADLE_HALF_OF_PAIR(exp2)
TREADLE_HALF_OF_PAIR(exp10)
TREADLE_HALF_OF_PAIR(log)
TREADLE_HALF_OF_PAIR(log2)
TREADLE_HALF_OF_PAIR(log10)
TREADLE_HALF_OF_PAIR(sin)
TREADLE_HALF_OF_PAIR(cos)
TREADLE_HALF_OF_PAIR(tanh)
#undef TREADLE_HALF_OF_PAIR
// clang-format on

}  // namespace half_names
}  // namespace treadle::TREADLE_TARGET
