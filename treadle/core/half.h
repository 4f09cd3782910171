/// Float16 and BFloat16: two-byte storage types that compute in float and round to nearest even after each
/// operation; doubles and integers are rounded once too.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace treadle {

/// A double rounded to float, to the neighbour with an odd last bit where it is inexact: rounding that to a
/// type whose significand is at least two bits shorter gives what rounding the double at once would. Boldo
/// and Melquiond, Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd, 2008.
inline float round_to_odd(double exact) {
  const float nearest = static_cast<float>(exact);
  if (static_cast<double>(nearest) == exact || std::isnan(exact) || std::isinf(nearest)) return nearest;
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if ((bits & 1u) != 0) return nearest;
  const bool rounded_away = std::fabs(static_cast<double>(nearest)) > std::fabs(exact);
  return std::bit_cast<float>(rounded_away ? bits - 1 : bits + 1);
}

/// The same for integers; those of more than 53 bits are rounded to odd in double first.
template <std::integral T>
float round_to_odd(T value) {
  if constexpr (sizeof(T) <= 2) {
    return static_cast<float>(value);
  } else if constexpr (sizeof(T) == 4) {
    return round_to_odd(static_cast<double>(value));
  } else {
    constexpr T kExact = T{1} << 53, kLost = (T{1} << 11) - 1;
    const bool exact = value <= kExact && (std::is_unsigned_v<T> || value >= T{0} - kExact);
    const T kept = exact ? value : T((value >> 11 | T((value & kLost) != 0)) << 11);
    return round_to_odd(static_cast<double>(kept));
  }
}

/// IEEE 754 binary16.
struct Float16 {
  uint16_t bits;

  Float16() = default;
  Float16(float value) : bits(round(value)) {}
  Float16(double value) : bits(round(round_to_odd(value))) {}
  template <std::integral T>
  Float16(T value) : bits(round(round_to_odd(value))) {}
  operator float() const { return widen(bits); }

  static Float16 from_bits(uint16_t bits) {
    Float16 h;
    h.bits = bits;
    return h;
  }

 private:
  /// Rounds to nearest even: exponents are rebiased by integer addition, denormals aligned by a float
  /// addition.
  static uint16_t round(float value) {
    uint32_t u = std::bit_cast<uint32_t>(value), sign = u >> 16 & 0x8000u;
    u &= 0x7fffffffu;
    if (u >= 0x47800000u) return uint16_t(sign | (u > 0x7f800000u ? 0x7e00u : 0x7c00u));
    if (u < 0x38800000u) {
      float aligned = std::bit_cast<float>(u) + 0.5f;
      return uint16_t(sign | (std::bit_cast<uint32_t>(aligned) - 0x3f000000u));
    }
    return uint16_t(sign | ((u + 0xc8000fffu + (u >> 13 & 1u)) >> 13));
  }

  static float widen(uint16_t bits) {
    uint32_t magnitude = uint32_t(bits & 0x7fffu) << 13, exponent = magnitude & 0x0f800000u;
    magnitude += 0x38000000u;
    if (exponent == 0x0f800000u) {
      magnitude += 0x38000000u;  // infinity and NaN
    } else if (exponent == 0) {
      float denormal = std::bit_cast<float>(magnitude + 0x00800000u) - 6.103515625e-05f;
      magnitude = std::bit_cast<uint32_t>(denormal);
    }
    return std::bit_cast<float>(magnitude | uint32_t(bits & 0x8000u) << 16);
  }
};

/// The upper half of an IEEE 754 binary32.
struct BFloat16 {
  uint16_t bits;

  BFloat16() = default;
  BFloat16(float value) : bits(round(value)) {}
  BFloat16(double value) : bits(round(round_to_odd(value))) {}
  template <std::integral T>
  BFloat16(T value) : bits(round(round_to_odd(value))) {}
  operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }

  static BFloat16 from_bits(uint16_t bits) {
    BFloat16 b;
    b.bits = bits;
    return b;
  }

 private:
  static uint16_t round(float value) {
    uint32_t u = std::bit_cast<uint32_t>(value);
    if ((u & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return uint16_t((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
  }
};

inline Float16 operator+(Float16 a, Float16 b) { return float(a) + float(b); }
inline Float16 operator-(Float16 a, Float16 b) { return float(a) - float(b); }
inline Float16 operator*(Float16 a, Float16 b) { return float(a) * float(b); }
inline Float16 operator/(Float16 a, Float16 b) { return float(a) / float(b); }
inline Float16 operator-(Float16 a) { return Float16::from_bits(a.bits ^ 0x8000u); }
inline BFloat16 operator+(BFloat16 a, BFloat16 b) { return float(a) + float(b); }
inline BFloat16 operator-(BFloat16 a, BFloat16 b) { return float(a) - float(b); }
inline BFloat16 operator*(BFloat16 a, BFloat16 b) { return float(a) * float(b); }
inline BFloat16 operator/(BFloat16 a, BFloat16 b) { return float(a) / float(b); }
inline BFloat16 operator-(BFloat16 a) { return BFloat16::from_bits(a.bits ^ 0x8000u); }

}  // namespace treadle
