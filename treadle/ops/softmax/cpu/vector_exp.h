/// e^x without branches or calls, so that loops over it vectorise on the host.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace treadle {

/// e^x for f32 and x ≤ 88, within 2 ulp; below -87.33 it is 0, where the result would be denormal; NaN
/// propagates.
///
/// x = n·ln 2 + r with |r| ≤ ln 2 / 2 and ln 2 in two parts (Cody and Waite, Software Manual for the
/// Elementary Functions, 1980); e^r by its Taylor polynomial of degree 7, whose remainder is below 2^-27; 2^n
/// by the exponent bits.
inline float vector_exp(float x) {
  constexpr float kRound = 12582912.f;  // 1.5·2^23: adding it leaves the nearest integer in the low bits
  const float shifted = x * 1.44269504f + kRound, n = shifted - kRound;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.f / 5040;
  p = p * r + 1.f / 720;
  p = p * r + 1.f / 120;
  p = p * r + 1.f / 24;
  p = p * r + 1.f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.f;
  p = p * r + 1.f;
  const float y = p * std::bit_cast<float>((std::bit_cast<uint32_t>(shifted) << 23) + 0x3f800000u);
  // From -87.33 down to -∞, but not NaN. On the bits, since a comparison of floats would become a branch.
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t vanishes = (bits > std::bit_cast<uint32_t>(-87.33f)) & (bits <= 0xff800000u);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(y) & (vanishes - 1));
}

inline double vector_exp(double x) { return std::exp(x); }

}  // namespace treadle
