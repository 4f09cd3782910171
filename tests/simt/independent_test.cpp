// Kernels launched as independent: a plain loop over the threads.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/simt/kernels.h"
#include "tests/simt/settings.h"

namespace treadle::simt {
namespace {

template <class T>
class IndependentTypes : public testing::Test {};
using Types = testing::Types<float, double, int, short, unsigned char, __half>;
TYPED_TEST_SUITE(IndependentTypes, Types);

TYPED_TEST(IndependentTypes, ScaleAndAddWritesExactlyItsElements) {
  for (int n : {1, 7, 255, 256, 257, 2000}) {
    const int untouched = 300;  // beyond the last block
    std::vector<TypeParam> x(n + untouched), y(n + untouched);
    for (int i = 0; i < n + untouched; ++i) {
      x[i] = TypeParam(static_cast<float>(i % 17));
      y[i] = TypeParam(static_cast<float>(i % 23));
    }
    scale_and_add(nullptr, TypeParam(3.f), x.data(), y.data(), n);
    for (int i = 0; i < n + untouched; ++i)
      ASSERT_EQ(float(y[i]), (i < n ? 3.f * static_cast<float>(i % 17) : 0.f) + static_cast<float>(i % 23))
          << n << " " << i;
  }
}

// Overlapping input and output: thread i reads what thread i-1 has written, as in the order of the threads.
TEST(Independent, OverlapFollowsThreadOrder) {
  std::vector<int> x(28, 1), expected(28, 1);
  scale_and_add(nullptr, 2, x.data(), x.data() + 1, 27);
  for (int i = 0; i < 27; ++i) expected[i + 1] = 2 * expected[i] + 1;
  EXPECT_EQ(x, expected);
}

TEST(Independent, TwoDimensionalBlocks) {
  const int rows = 37, columns = 45;
  std::vector<float> x(rows * columns, 2.f), bias(columns), y(rows * columns, -1.f);
  for (int j = 0; j < columns; ++j) bias[j] = static_cast<float>(j);
  add_rows(nullptr, x.data(), bias.data(), y.data(), rows, columns);
  for (int i = 0; i < rows * columns; ++i) ASSERT_EQ(y[i], 2.f + static_cast<float>(i % columns));
}

TEST(Independent, CollectivesAreRefused) {
  for (const auto launch : {barrier_in_independent, shuffle_in_independent}) {
    try {
      launch(nullptr);
      FAIL() << "no error";
    } catch (const SimtError& error) {
      EXPECT_NE(std::string(error.what()).find("independent.cu"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("launched as independent"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace treadle::simt
