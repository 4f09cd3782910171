// CUDA's mathematical functions, directed rounding, conversions, SIMD instructions and half types, by known
// values.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "treadle/simt/toolkit/half_functions.h"
#include "treadle/simt/toolkit/math_functions.h"
#include "treadle/simt/toolkit/rounding.h"
#include "treadle/simt/toolkit/video.h"

namespace treadle::simt {
namespace {

constexpr double kUlp = std::numeric_limits<double>::epsilon();

TEST(Mathematics, InversesOfErf) {
  for (const double x : {-0.999, -0.5, -1e-5, 0.0, 0.3, 0.7, 0.99999})
    EXPECT_NEAR(std::erf(erfinv(x)), x, 4 * kUlp) << x;
  // erfc has the relative slope 2x² there: x = 15 magnifies an error of the argument 450 times.
  for (const double x : {1e-100, 1e-20, 0.01, 0.5, 1.0, 1.99})
    EXPECT_NEAR(std::erfc(erfcinv(x)) / x, 1, 2000 * kUlp) << x;
  EXPECT_EQ(erfinv(1.0), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(erfinv(1.5)));
  EXPECT_NEAR(normcdfinv(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normcdf(1.959963984540054), 0.975, 4 * kUlp);
}

TEST(Mathematics, ScaledErfcOfAnySize) {
  EXPECT_NEAR(erfcx(0.5), 0.6156903441929258, 4 * kUlp);
  EXPECT_NEAR(erfcx(10.), 0.05614099274382259, 1e-15);
  EXPECT_NEAR(erfcx(24.9999) / erfcx(25.0001), 25.0001 / 24.9999, 1e-7) << "where the formula changes";
  EXPECT_NEAR(erfcx(1e6) * 1e6 * std::sqrt(M_PI), 1, 1e-11);
}

TEST(Mathematics, AnglesInHalfTurns) {
  EXPECT_EQ(sinpi(1.), 0.);
  EXPECT_EQ(cospi(0.5), 0.);
  EXPECT_EQ(cospi(1e15 + 1), -1.);
  EXPECT_NEAR(sinpi(0.25), M_SQRT1_2, kUlp);
  EXPECT_NEAR(sinpi(-1.75), M_SQRT1_2, kUlp);
  EXPECT_NEAR(cospif(1.f / 3), 0.5f, 1e-7);
}

TEST(Mathematics, NormsDoNotOverflow) {
  EXPECT_EQ(norm3d(3e300, 0., 4e300), 5e300);
  EXPECT_EQ(norm4df(1.f, 1.f, 1.f, 1.f), 2.f);
  EXPECT_EQ(rnorm3d(0., 0., 0.5), 2.);
  EXPECT_EQ(rhypot(3., 4.), 0.2);
  EXPECT_NEAR(cyl_bessel_i0(1.), 1.2660658777520084, 1e-14);
  EXPECT_NEAR(cyl_bessel_i1(-1.), -0.5651591039924851, 1e-14);
}

TEST(Mathematics, RoundsInFourDirections) {
  const float third_down = __fdiv_rd(1.f, 3.f), third_up = __fdiv_ru(1.f, 3.f);
  EXPECT_EQ(std::nextafter(third_down, 1.f), third_up);
  EXPECT_EQ(__fdiv_rz(-1.f, 3.f), -third_down);
  EXPECT_EQ(__fadd_ru(1.f, 1e-20f), std::nextafter(1.f, 2.f));
  EXPECT_EQ(__fadd_rd(1.f, 1e-20f), 1.f);
  EXPECT_EQ(__dsqrt_ru(2.), std::nextafter(__dsqrt_rd(2.), 2.));
  EXPECT_EQ(__fma_rd(1., 1., -1e-30), std::nextafter(1., 0.));
  EXPECT_EQ(__fadd_rn(1.f, 1e-20f), 1.f) << "the processor's own rounding is as it was";
}

TEST(Mathematics, ConversionsSaturate) {
  EXPECT_EQ(__float2uint_rn(-3.f), 0u);
  EXPECT_EQ(__float2uint_rz(1e20f), 0xffffffffu);
  EXPECT_EQ(__double2int_rd(-1.5), -2);
  EXPECT_EQ(__double2int_ru(1.5), 2);
  EXPECT_EQ(__double2int_rn(2.5), 2);
  EXPECT_EQ(__double2ll_rz(-1e30), std::numeric_limits<long long>::min());
  EXPECT_EQ(__double2int_rz(NAN), 0);
  EXPECT_EQ(__int2float_rd(16777217), 16777216.f);
  EXPECT_EQ(__int2float_ru(16777217), 16777218.f);
  EXPECT_EQ(__hiloint2double(__double2hiint(-2.5), __double2loint(-2.5)), -2.5);
}

TEST(Mathematics, PartsOfWords) {
  EXPECT_EQ(__vadd4(0x01ff7f80u, 0x01010101u), 0x02008081u);
  EXPECT_EQ(__vaddus4(0x01ff7f80u, 0x01010101u), 0x02ff8081u);
  EXPECT_EQ(__vaddss4(0x01ff7f80u, 0x01010101u), 0x02007f81u);
  EXPECT_EQ(__vcmpgts4(0x7f80ff01u, 0x00000000u), 0xff0000ffu);
  EXPECT_EQ(__vcmpgtu4(0x7f80ff00u, 0x00000000u), 0xffffff00u);
  EXPECT_EQ(__vsetne2(0x00010000u, 0u), 0x00010000u);
  EXPECT_EQ(__vsadu4(0x00ff0a05u, 0x01000a03u), 1u + 255u + 2u);
  EXPECT_EQ(__vavgu2(0x00010003u, 0x00020003u), 0x00020003u);
  EXPECT_EQ(__sad(-5, 7, 100u), 112u);
  EXPECT_EQ(__hadd(-3, 0), -2);
  EXPECT_EQ(__rhadd(-3, 0), -1);
  EXPECT_EQ(__fns(0b101100u, 0, 2), 3u);
  EXPECT_EQ(__fns(0b101100u, 31, -1), 5u);
  EXPECT_EQ(__fns(0b1u, 1, 1), ~0u);
  EXPECT_EQ(__dp4a(0xff01u, 0x0203u, 1u), 1u + 0x01u * 3u + 0xffu * 2u);
  EXPECT_EQ(__dp2a_hi(0x00020003, 0x0504fffe, 1), 1 + 3 * 4 + 2 * 5);
}

TEST(Mathematics, HalvesInFourDirections) {
  const float x = 1.f + 1.f / 2048 + 1.f / 8192;  // between two halves, nearer to the upper one
  const float below = 1.f, above = 1.f + 1.f / 1024;
  EXPECT_EQ(float(__float2half_rn(x)), above);
  EXPECT_EQ(float(__float2half_rz(x)), below);
  EXPECT_EQ(float(__float2half_rd(-x)), -above);
  EXPECT_EQ(float(__float2half_ru(-x)), -below);
  EXPECT_EQ(float(__float2half_rz(1e6f)), 65504.f);
  EXPECT_EQ(float(__float2half_ru(1e-9f)), std::ldexp(1.f, -24)) << "the smallest";
  EXPECT_EQ(float(__int2half_rd(2049)), 2048.f);
  EXPECT_EQ(float(__float2bfloat16_ru(1.001f)), 1.0078125f);
  EXPECT_EQ(__half2short_rn(__half(2.5f)), 2);
  EXPECT_EQ(__half2ushort_rz(__half(-3.f)), 0);
  EXPECT_EQ(__bfloat162ll_rd(__nv_bfloat16(-1.5f)), -2);
}

TEST(Mathematics, HalvesCompareWithNaN) {
  const __half one = 1.f, nan = NAN;
  EXPECT_FALSE(__hlt(one, nan));
  EXPECT_TRUE(__hltu(one, nan));
  EXPECT_FALSE(__hne(one, nan));
  EXPECT_TRUE(__hneu(one, nan));
  EXPECT_EQ(float(__hmax(one, nan)), 1.f);
  EXPECT_TRUE(__hisnan(__hmax_nan(one, nan)));
  const __half2 pair{one, nan};
  EXPECT_FALSE(__hbeq2(pair, pair));
  EXPECT_EQ(__heq2_mask(pair, pair), 0x0000ffffu);
  EXPECT_EQ(float(__hadd_sat(one, one)), 1.f);
  EXPECT_EQ(float(__hfma_relu(one, __half(-2.f), one)), 0.f);
  EXPECT_EQ(float(h2exp2(__half2{__half(3.f), one}).x), 8.f);
}

}  // namespace
}  // namespace treadle::simt
