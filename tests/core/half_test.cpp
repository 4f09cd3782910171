/// Float16 and BFloat16: every value, and that each conversion rounds once.
#include "treadle/core/half.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace treadle {
namespace {

/// The layout of a two-byte format; the sign is the highest bit.
struct Format {
  int fraction_bits, smallest_exponent;
};
constexpr Format kFloat16{10, -14}, kBFloat16{7, -126};

/// The value of a positive, finite bit pattern, by the definition.
double value_of(uint32_t bits, Format format) {
  const int exponent = int(bits >> format.fraction_bits);
  const double fraction = bits & ((1u << format.fraction_bits) - 1);
  const double leading = exponent == 0 ? 0 : std::ldexp(1.0, format.fraction_bits);
  return std::ldexp(leading + fraction,
                    std::max(exponent, 1) - 1 + format.smallest_exponent - format.fraction_bits);
}

uint32_t infinity_of(Format format) { return 0x7fffu >> format.fraction_bits << format.fraction_bits; }

template <class Half>
void expect_rounded(double value, uint32_t bits) {
  ASSERT_EQ(Half(value).bits, bits) << value;
  ASSERT_EQ(Half(-value).bits, bits | 0x8000u) << -value;
}

/// Around the middle of every two neighbours: the even one at the middle, the nearer one a hair beside it.
/// Halfway above the largest number lies infinity.
template <class Half>
void expect_every_middle(Format format) {
  for (uint32_t bits = 0; bits < infinity_of(format); ++bits) {
    const double low = value_of(bits, format);
    const double high =
        bits + 1 < infinity_of(format) ? value_of(bits + 1, format) : 2 * low - value_of(bits - 1, format);
    const double middle = low + (high - low) / 2;
    ASSERT_EQ(double(Half::from_bits(uint16_t(bits))), low);
    expect_rounded<Half>(low, bits);
    expect_rounded<Half>(middle, bits + (bits & 1u));
    expect_rounded<Half>(std::nextafter(middle, 0), bits);
    expect_rounded<Half>(std::nextafter(middle, INFINITY), bits + 1);
    expect_rounded<Half>(middle * (1 + 0x1p-40), bits + 1);
    expect_rounded<Half>(middle * (1 - 0x1p-40), bits);
  }
}

TEST(Half, DoublesRoundOnce) {
  expect_every_middle<Float16>(kFloat16);
  expect_every_middle<BFloat16>(kBFloat16);
  EXPECT_EQ(double(Float16(1 + 0x1p-11 + 0x1p-40)), 1.0009765625);
  for (double huge : {1e300, double(INFINITY)}) {
    EXPECT_EQ(Float16(huge).bits, 0x7c00u);
    EXPECT_EQ(BFloat16(-huge).bits, 0xff80u);
  }
  EXPECT_TRUE(std::isnan(double(Float16(double(NAN)))));
  EXPECT_TRUE(std::isnan(double(BFloat16(double(NAN)))));
  EXPECT_EQ(Float16(-0.0).bits, 0x8000u);
  EXPECT_EQ(BFloat16(std::numeric_limits<double>::denorm_min()).bits, 0u);
}

/// Whole numbers around the middle of neighbours.
template <class Half, class Integer>
void expect_integers(Format format) {
  for (uint32_t bits = 0; bits + 1 < infinity_of(format); ++bits) {
    const double low = value_of(bits, format), middle = low + (value_of(bits + 1, format) - low) / 2;
    if (middle != std::floor(middle) || middle >= double(std::numeric_limits<Integer>::max())) continue;
    const auto number = Integer(middle);
    ASSERT_EQ(Half(number).bits, bits + (bits & 1u)) << number;
    if (std::is_signed_v<Integer>) {
      ASSERT_EQ(Half(Integer(-number)).bits, (bits + (bits & 1u)) | 0x8000u) << number;
    }
    if (middle - 1 <= low) continue;
    ASSERT_EQ(Half(Integer(number - 1)).bits, bits) << number;
    ASSERT_EQ(Half(Integer(number + 1)).bits, bits + 1) << number;
  }
}

TEST(Half, IntegersRoundOnce) {
  expect_integers<Float16, int32_t>(kFloat16);
  expect_integers<Float16, int64_t>(kFloat16);
  expect_integers<Float16, uint16_t>(kFloat16);
  expect_integers<BFloat16, int16_t>(kBFloat16);
  expect_integers<BFloat16, int32_t>(kBFloat16);
  expect_integers<BFloat16, int64_t>(kBFloat16);
  expect_integers<BFloat16, uint64_t>(kBFloat16);
  EXPECT_EQ(double(BFloat16((int64_t{1} << 62) + (int64_t{1} << 54) + 1)), 0x1p62 + 0x1p55);
  EXPECT_EQ(double(BFloat16(std::numeric_limits<int64_t>::min())), -0x1p63);
  EXPECT_EQ(double(BFloat16(std::numeric_limits<int64_t>::max())), 0x1p63);
  EXPECT_EQ(Float16(true).bits, 0x3c00u);
}

}  // namespace
}  // namespace treadle
