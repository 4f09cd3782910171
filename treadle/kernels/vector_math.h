/// Functions of float without branches and calls, so that the compiler makes vectors of loops over them. They
/// are what math.h calls on the host, where a call of the C library for each element costs ten times as much.
///
/// Sums and products are rounded one by one, never fused, so that all instruction sets give the same bits.
/// Polynomials are minimax fits (Remez' exchange) whose own error is named; arguments are reduced as in Cody
/// and Waite, Software Manual for the Elementary Functions, 1980. NaN gives NaN, and results below the
/// smallest normal number are rounded as any other. Bounds in ulp are those that tests/kernels sees over all
/// floats.
#pragma once

#include <bit>
#include <cstdint>

namespace treadle::vector_math {

inline uint32_t bits_of(float x) { return std::bit_cast<uint32_t>(x); }
inline float of_bits(uint32_t bits) { return std::bit_cast<float>(bits); }
inline float magnitude(float x) { return of_bits(bits_of(x) & 0x7fffffffu); }
inline float with_sign_of(float sign, float x) { return of_bits(bits_of(x) | (bits_of(sign) & 0x80000000u)); }
/// NaN stays NaN.
inline float at_most(float bound, float x) { return x > bound ? bound : x; }
inline float at_least(float bound, float x) { return x < bound ? bound : x; }

/// c0 + c1·x + …
template <class... C>
inline float polynomial(float x, float c0, C... rest) {
  if constexpr (sizeof...(C) == 0)
    return c0;
  else
    return polynomial(x, float(rest)...) * x + c0;
}

/// x = n·ln 2 + r with |r| ≤ ln 2 / 2, for |x| < 2^22.
struct Reduced {
  float r;
  float n;
  uint32_t integer;  ///< n, modulo 2^32
};
inline Reduced reduce(float x) {
  constexpr float kRound = 12582912.f;  // 1.5·2^23: adding it leaves the nearest integer in the low bits
  const float shifted = x * 1.44269504f + kRound, n = shifted - kRound;
  return {(x - n * 0.693359375f) + n * 2.12194440e-4f, n, bits_of(shifted) - bits_of(kRound)};
}

/// 2^n for -126 ≤ n ≤ 127.
inline float power_of_two(uint32_t n) { return of_bits((n + 127) << 23); }

/// y·2^n for -252 ≤ n ≤ 254: in two steps, of which the second rounds or overflows.
inline float scaled(float y, uint32_t n) {
  const uint32_t half = uint32_t(int32_t(n) >> 1);
  return y * power_of_two(half) * power_of_two(n - half);
}

/// Within 1.1 ulp; the polynomial 2^-28.
inline float exp(float x) {
  const Reduced at = reduce(at_least(-105.f, at_most(89.f, x)));
  const float q = polynomial(at.r, 0.50000001f, 0.166665188f, 0.0416662058f, 0.00836888867f, 0.00139504903f);
  return scaled((q * at.r * at.r + at.r) + 1.f, at.integer);
}

/// e^x - 1 = 2^n·((e^r - 1) + (1 - 2^-n)), within 2 ulp; the polynomial 2^-32.
inline float expm1(float x) {
  const Reduced at = reduce(at_least(-20.f, at_most(89.f, x)));
  const float q = polynomial(at.r, 0.500000005f, 0.166666668f, 0.0416663547f, 0.00833327305f, 0.00139410044f,
                             0.000199141697f);
  const float above_one = q * at.r * at.r + at.r;
  // 2^-128 would be 0, which is as good beside 1.
  const float y =
      scaled(above_one + (1.f - power_of_two(0u - (at.n > 126.f ? 126u : at.integer))), at.integer);
  return x == 0.f ? x : y;
}

/// Within 1.1 ulp; the polynomial 2^-30. -∞ at 0, NaN below.
inline float log(float x) {
  const bool tiny = x < 0x1p-126f;
  const float normal = tiny ? x * 0x1p23f : x;
  // Of mantissas between √½ and √2.
  const uint32_t shifted = bits_of(normal) - 0x3f3504f3u;
  const float e = float(int32_t(shifted) >> 23) - (tiny ? 23.f : 0.f);
  const float f = of_bits((shifted & 0x007fffffu) + 0x3f3504f3u) - 1.f;
  const float p = polynomial(f, 0.333333106f, -0.249999866f, 0.200022182f, -0.166692483f, 0.142188012f,
                             -0.123844566f, 0.118721375f, -0.117889483f, 0.0691610796f);
  const float y = ((f * f * (f * p - 0.5f) - e * 2.12194440e-4f) + f) + e * 0.693359375f;
  const float special = x == 0.f ? of_bits(0xff800000u) : of_bits(0x7fc00000u);
  return x > 0.f ? (x > 0x1.fffffep127f ? x : y) : special;
}

/// ln(1 + x) = ln u + c/u, u the rounded 1 + x and c what that left out; within 2 ulp.
inline float log1p(float x) {
  const float u = 1.f + x, left_out = x > 1.f ? 1.f - (u - x) : x - (u - 1.f);
  const float y = log(u) + left_out / u;
  return u > 0.f && u <= 0x1.fffffep127f && x != 0.f ? y : x == 0.f ? x : log(u);
}

/// With t = e^2|x| - 1, t / (t + 2); within 3 ulp.
inline float tanh(float x) {
  const float t = expm1(2.f * at_most(10.f, magnitude(x)));
  return with_sign_of(x, t / (t + 2.f));
}

/// Within 1.5 ulp: below 0.98 x + x·P(x²), of 2^-29, and above 1 - e^(-|x|·Q(|x|)), of 2^-31.
inline float erf(float x) {
  const float a = magnitude(x), s = a * a;
  const float p = polynomial(s, 0.12837917f, -0.376126271f, 0.112836002f, -0.0268544446f, 0.00518953545f,
                             -0.000802084233f, 7.88912325e-5f);
  const float t = at_most(4.f, a);
  const float q = polynomial(t, 1.12868291f, 0.635014008f, 0.106460211f, -0.0239514682f, 0.00373073121f,
                             -0.000344226675f, 1.33455505e-5f);
  return with_sign_of(x, a < 0.98f ? a * p + a : 1.f - exp(-t * q));
}

}  // namespace treadle::vector_math
