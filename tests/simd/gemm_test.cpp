/// The float matrix product against a double one, for sizes around every block edge, on every instruction set
/// this CPU has.
#include "treadle/simd/gemm.h"
#include "tests/simd_targets.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <random>
#include <vector>

namespace treadle::cpu {
namespace {

struct Sizes {
  int64_t m, n, k;
};

/// A matrix of `rows` × `columns` in a wider one; what lies beside it is a guard.
struct Matrix {
  static constexpr int64_t kGap = 3;
  static constexpr float kGuard = 12345;
  int64_t rows, columns, leading = columns + kGap;
  std::vector<float> values = std::vector<float>(size_t(rows * leading), kGuard);

  Matrix(int64_t rows, int64_t columns) : rows(rows), columns(columns) {}
  float& at(int64_t i, int64_t j) { return values[size_t(i * leading + j)]; }
  void fill(std::mt19937& random) {
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) at(i, j) = uniform(random);
  }
};

void check(Sizes size, bool transpose_a, bool transpose_b, bool accumulate) {
  std::mt19937 random(7);
  Matrix a = transpose_a ? Matrix(size.k, size.m) : Matrix(size.m, size.k);
  Matrix b = transpose_b ? Matrix(size.n, size.k) : Matrix(size.k, size.n);
  Matrix c(size.m, size.n);
  a.fill(random), b.fill(random), c.fill(random);
  Matrix before = c;
  gemm(transpose_a, transpose_b, size.m, size.n, size.k, a.values.data(), a.leading, b.values.data(),
       b.leading, c.values.data(), c.leading, accumulate);
  for (int64_t i = 0; i < size.m; ++i) {
    for (int64_t j = 0; j < size.n; ++j) {
      double sum = accumulate ? before.at(i, j) : 0, absolute = std::fabs(sum);
      for (int64_t p = 0; p < size.k; ++p) {
        const double product =
            double(transpose_a ? a.at(p, i) : a.at(i, p)) * double(transpose_b ? b.at(j, p) : b.at(p, j));
        sum += product, absolute += std::fabs(product);
      }
      ASSERT_NEAR(c.at(i, j), sum, 0x1p-24 * double(size.k + 1) * absolute) << "element " << i << ", " << j;
    }
    for (int64_t j = size.n; j < c.leading; ++j) ASSERT_EQ(c.at(i, j), Matrix::kGuard) << "behind row " << i;
  }
}

class Gemm : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

TEST_P(Gemm, AgreesWithDouble) {
  for (Sizes size : {Sizes{1, 1, 1},
                     {6, 16, 8},
                     {5, 15, 7},
                     {7, 17, 9},
                     {97, 33, 257},
                     {12, 32, 256},
                     {100, 1030, 3},
                     {1, 200, 30},
                     {200, 1, 30},
                     {4, 5, 0}}) {
    SCOPED_TRACE(testing::Message() << size.m << " x " << size.n << " x " << size.k);
    for (int flags = 0; flags < 8; ++flags) check(size, flags & 1, flags & 2, flags & 4);
  }
}

TEST_P(Gemm, EmptyResult) {
  gemm(false, false, 0, 4, 4, nullptr, 4, nullptr, 4, nullptr, 4, false);
  gemm(false, false, 4, 0, 4, nullptr, 4, nullptr, 0, nullptr, 0, false);
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, Gemm, testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return hwy::TargetName(info.param); });

}  // namespace
}  // namespace treadle::cpu
