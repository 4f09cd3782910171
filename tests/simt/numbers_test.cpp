// wmma, half types, constant memory and intrinsics.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "tests/simt/kernels.h"

namespace treadle::simt {
namespace {

/// Small integers and a column-major b: every product and sum is exact.
template <class T>
void check_wmma() {
  const int n = 48;
  std::vector<T> a(n * n), b(n * n);
  std::vector<float> c(n * n, NAN);
  for (int i = 0; i < n * n; ++i) {
    a[i] = static_cast<float>(i * 7 % 13 - 6);
    b[i] = static_cast<float>(i * 5 % 11 - 5);
  }
  wmma_product(nullptr, a.data(), b.data(), c.data(), n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += float(a[i * n + k]) * float(b[j * n + k]);
      ASSERT_EQ(c[i * n + j], sum) << i << " " << j;
    }
}

TEST(Numbers, WmmaHalf) { check_wmma<__half>(); }
TEST(Numbers, WmmaBfloat16) { check_wmma<__nv_bfloat16>(); }

TEST(Numbers, HalfOperationsRoundOnce) {
  const __half x[3] = {1.0009765625f, 3.f, -3.001953125f};  // 1 + 2^-10, 3, -(3 + 2^-9)
  __half y[9];
  half_operations(nullptr, x, y);
  const float a = x[0], b = x[1], c = x[2];
  EXPECT_EQ(float(y[0]), a * b + c) << "a product that a half cannot hold is not rounded before the sum";
  EXPECT_EQ(float(y[1]), float(__half(a + b)));
  EXPECT_EQ(float(y[2]), float(__half(a * b)));
  EXPECT_EQ(float(y[3]), float(__half(float(__half(a / b)) - c)));
  EXPECT_EQ(float(y[4]), b);
  EXPECT_EQ(float(y[5]), 2 * a);
  EXPECT_EQ(float(y[6]), float(__half(a * c)));
  EXPECT_EQ(float(y[7]), float(__half(b * c)));
  EXPECT_EQ(float(y[8]), -float(__half(a + b)));
}

// 2048 + 1 is a tie between the halves 2048 and 2050. A product slightly above or below 1 decides it, by less
// than a float of that size can show.
TEST(Numbers, FusedHalfDoesNotRoundTwice) {
  const __half above = 1.f + std::ldexp(1.f, -10), below = 1.f - std::ldexp(1.f, -11),
               small = std::ldexp(1.f, -14);
  EXPECT_EQ(float(__hfma(above, __half(1.f), __half(2048.f))), 2050.f);
  EXPECT_EQ(float(__hfma(above, below, __half(2048.f))), 2050.f);  // 1 + 2^-11 - 2^-21
  EXPECT_EQ(float(__hfma(below, below, __half(2048.f))), 2048.f);
  // 1 + 2^-11 is a tie between 1 and 1 + 2^-10; 2^-28 above it is lost in a float.
  EXPECT_EQ(float(__hfma(small, small, __half(1.f))), 1.f);
  const __half factor = std::ldexp(1.f + std::ldexp(1.f, -10), -5),
               other = std::ldexp(1.f - std::ldexp(1.f, -10), -6);
  EXPECT_EQ(float(__hfma(factor, other, __half(1.f))), 1.f);  // 1 + 2^-11 - 2^-31
}

TEST(Numbers, ConstantMemory) {
  const int n = 130;
  std::vector<float> x(n), y(n, -1.f);
  for (int i = 0; i < n; ++i) x[i] = static_cast<float>(i * i);
  const float taps[3] = {1.f, -2.f, 1.f};
  stencil(nullptr, taps, x.data(), y.data(), n);
  for (int i = 1; i < n - 1; ++i) EXPECT_EQ(y[i], 2.f);
  EXPECT_EQ(y[0], -1.f);
  const float identity[3] = {0.f, 1.f, 0.f};
  stencil(nullptr, identity, x.data(), y.data(), n);
  for (int i = 1; i < n - 1; ++i) EXPECT_EQ(y[i], x[i]);
}

TEST(Numbers, Intrinsics) {
  const unsigned x[2] = {0x40490fdbu, 0x89abcdefu};
  unsigned y[16];
  intrinsics(nullptr, x, y);
  EXPECT_EQ(y[0], 14u);
  EXPECT_EQ(y[1], 1u);
  EXPECT_EQ(y[2], 1u);
  EXPECT_EQ(y[3], 0xdbf09202u);
  EXPECT_EQ(y[4], static_cast<unsigned>(uint64_t{x[0]} * x[1] >> 32));
  EXPECT_EQ(y[5], static_cast<unsigned>(0x490fdbll * -0x543211ll));
  EXPECT_EQ(y[6], x[0]);
  EXPECT_EQ(y[7], 0xcdef0fdbu);
  EXPECT_EQ(y[8], 0xabcdef40u);
  EXPECT_EQ(y[9], x[0]);
  EXPECT_EQ(y[10], 4u);
  EXPECT_EQ(y[11], 2u);
  EXPECT_EQ(y[12], std::bit_cast<unsigned>(10.f));
  EXPECT_EQ(y[13], std::bit_cast<unsigned>(2.f));
  EXPECT_EQ(y[14], 10u);
  EXPECT_EQ(y[15], x[0]);
}

}  // namespace
}  // namespace treadle::simt
