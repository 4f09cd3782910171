/// Products and sums of tall matrices against double ones, for sizes around every edge of a tile, on every
/// instruction set this CPU has.
#include "treadle/ops/matrix/cpu/tall_products.h"

#include <gtest/gtest.h>
#include <hwy/aligned_allocator.h>
#include <hwy/targets.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/simd_targets.h"

namespace treadle::cpu::tall_products {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class TallProducts : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

/// Numbers, and NaN between rows that are `row` apart.
std::vector<float> numbers(int64_t rows, int64_t columns, int64_t row, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(size_t((rows - 1) * row + columns), kNaN);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) values[size_t(i * row + j)] = uniform(random);
  return values;
}

/// `by_column`: a is stored [M,K].
void check(int64_t K, int64_t M, int64_t N, bool by_column) {
  SCOPED_TRACE(testing::Message() << K << " terms, " << M << " x " << N << (by_column ? ", by column" : ""));
  std::mt19937 random(7);
  const int64_t a_row = by_column ? 1 : M + 3, a_column = by_column ? K + 3 : 1, b_row = N + 5;
  const auto a = by_column ? numbers(M, K, a_column, random) : numbers(K, M, a_row, random),
             b = numbers(K, N, b_row, random);
  const int64_t c_row = padded_columns(N);
  auto c = hwy::AllocateAligned<float>(size_t(M * c_row));
  auto scratch = hwy::AllocateAligned<float>(size_t(tall_scratch()));
  std::fill_n(c.get(), M * c_row, kNaN), std::fill_n(scratch.get(), tall_scratch(), kNaN);
  multiply_tall({K, M, N, a.data(), a_row, a_column, b.data(), b_row, c.get()}, scratch.get());
  for (int64_t i = 0; i < M; ++i)
    for (int64_t j = 0; j < N; ++j) {
      double sum = 0, absolute = 0;
      for (int64_t k = 0; k < K; ++k) {
        const double product = double(a[size_t(k * a_row + i * a_column)]) * b[size_t(k * b_row + j)];
        sum += product, absolute += std::fabs(product);
      }
      ASSERT_NEAR(c[size_t(i * c_row + j)], sum, 0x1p-24 * double(K + 1) * absolute) << i << ", " << j;
    }
}

TEST_P(TallProducts, AgreeWithDouble) {
  for (int64_t K : {1, 63, 64, 65, 200})
    for (auto [M, N] : {std::array<int64_t, 2>{1, 1},
                        {6, 64},
                        {7, 65},
                        {5, 15},
                        {8, 16},
                        {3, 17},
                        {13, 100},
                        {100, 20},
                        {5, 300}})
      for (bool by_column : {false, true}) check(K, M, N, by_column);
}

TEST_P(TallProducts, SumsOfRowsMayReplaceTheFirst) {
  std::mt19937 random(8);
  for (int64_t rows : {1, 5})
    for (int64_t columns : {1, 3, 16, 37, 130}) {
      const int64_t row = columns + 3;
      std::vector<float> from = numbers(rows, columns, row, random),
                         apart(static_cast<size_t>(columns), kNaN);
      sum_rows(rows, columns, from.data(), row, apart.data());
      for (int64_t j = 0; j < columns; ++j) {
        float sum = 0;
        for (int64_t i = 0; i < rows; ++i) sum += from[size_t(i * row + j)];
        ASSERT_EQ(apart[size_t(j)], sum) << j << " of " << columns;
      }
      sum_rows(rows, columns, from.data(), row, from.data());
      for (int64_t j = 0; j < columns; ++j)
        ASSERT_EQ(from[size_t(j)], apart[size_t(j)]) << j << " of " << columns;
    }
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, TallProducts, testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return hwy::TargetName(info.param); });

}  // namespace
}  // namespace treadle::cpu::tall_products
