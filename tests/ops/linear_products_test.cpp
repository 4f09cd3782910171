/// The products of a linear layer against double ones, for sizes around every block edge, on every
/// instruction set this CPU has.
#include "treadle/ops/matrix/cpu/linear_products.h"
#include "tests/simd_targets.h"

#include <gtest/gtest.h>
#include <hwy/aligned_allocator.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace treadle::cpu::linear_products {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// A matrix whose rows have NaN between them, and nothing behind the last.
struct Matrix {
  static constexpr int64_t kGap = 3;
  int64_t rows, columns, leading = columns + kGap;
  std::vector<float> values;

  Matrix(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), values(size_t(rows == 0 ? 0 : rows * leading - kGap), kNaN) {}
  float& at(int64_t i, int64_t j) { return values[size_t(i * leading + j)]; }
  float at(int64_t i, int64_t j) const { return values[size_t(i * leading + j)]; }
  Matrix& fill(std::mt19937& random) {
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) at(i, j) = uniform(random);
    return *this;
  }
  Matrix& fill(float value) {
    for (int64_t i = 0; i < rows; ++i) std::fill_n(&at(i, 0), columns, value);
    return *this;
  }
  void expect_gaps() const {
    for (int64_t i = 0; i + 1 < rows; ++i)
      for (int64_t j = columns; j < leading; ++j) ASSERT_TRUE(std::isnan(at(i, j))) << "behind row " << i;
  }
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

struct Sizes {
  int64_t M, N, K;
};

class LinearProducts : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

// ---- multiply_rows ----------------------------------------------------------------------------------------

RowProduct row_product(const Matrix& a, const Matrix& b, const float* bias, Matrix& c, bool relu) {
  return {a.rows,    b.rows, a.columns,       a.values.data(), a.leading, b.values.data(),
          b.leading, bias,   c.values.data(), c.leading,       relu};
}

void check_rows(Sizes size, bool biased, bool relu) {
  std::mt19937 random(7);
  const Matrix a = Matrix(size.M, size.K).fill(random), b = Matrix(size.N, size.K).fill(random),
               bias = Matrix(1, size.N).fill(random);
  Matrix c = Matrix(size.M, size.N).fill(12345);
  multiply_rows(row_product(a, b, biased ? bias.values.data() : nullptr, c, relu));
  for (int64_t i = 0; i < size.M; ++i)
    for (int64_t j = 0; j < size.N; ++j) {
      double sum = biased ? bias.at(0, j) : 0, absolute = std::fabs(sum);
      for (int64_t k = 0; k < size.K; ++k)
        sum += double(a.at(i, k)) * b.at(j, k), absolute += std::fabs(double(a.at(i, k)) * b.at(j, k));
      if (relu) sum = std::max(sum, 0.0);
      ASSERT_NEAR(c.at(i, j), sum, 0x1p-24 * double(size.K + 2) * absolute) << "element " << i << ", " << j;
    }
  c.expect_gaps();
}

TEST_P(LinearProducts, RowsAgreeWithDouble) {
  for (Sizes size : {Sizes{1, 1, 1},
                     {3, 4, 8},
                     {4, 5, 9},
                     {7, 11, 7},
                     {2, 3, 0},
                     {6, 8, 16},
                     {13, 6, 33},
                     {32, 10, 84},
                     {33, 13, 1024},
                     {5, 7, 1037},
                     {40, 3, 2500},
                     {1, 70, 130},
                     {70, 1, 19}}) {
    SCOPED_TRACE(testing::Message() << size.M << " x " << size.N << " x " << size.K);
    for (int flags = 0; flags < 4; ++flags) check_rows(size, flags & 1, flags & 2);
  }
}

/// Parts of the result are the bits of the whole, whatever tiles they fall into.
TEST_P(LinearProducts, RowsDoNotDependOnTheCut) {
  std::mt19937 random(8);
  const Matrix a = Matrix(11, 1111).fill(random), b = Matrix(14, 1111).fill(random);
  Matrix whole(11, 14), parts(11, 14);
  multiply_rows(row_product(a, b, nullptr, whole, true));
  for (int64_t i = 0; i < 11; ++i)
    for (auto [begin, end] : {std::pair<int64_t, int64_t>{0, 3}, {3, 4}, {4, 14}}) {
      RowProduct p = row_product(a, b, nullptr, parts, true);
      p.M = 1, p.a += i * a.leading, p.c += i * parts.leading;
      p.N = end - begin, p.b += begin * b.leading, p.c += begin;
      multiply_rows(p);
    }
  EXPECT_TRUE(same_bits(whole.values, parts.values));
}

TEST_P(LinearProducts, RowsKeepWhatIsNotANumber) {
  for (int64_t K : {1, 5, 12, 40}) {
    const Matrix b = Matrix(5, K).fill(1);
    Matrix a = Matrix(4, K).fill(1), c(4, 5);
    a.at(1, K - 1) = kNaN, a.at(2, 0) = kInfinity, a.at(3, K / 2) = -kInfinity;
    multiply_rows(row_product(a, b, nullptr, c, true));
    for (int64_t j = 0; j < 5; ++j) {
      EXPECT_EQ(c.at(0, j), float(K));
      EXPECT_TRUE(std::isnan(c.at(1, j))) << "ReLU keeps NaN";
      EXPECT_EQ(c.at(2, j), kInfinity);
      EXPECT_EQ(c.at(3, j), 0);
    }
  }
}

// ---- multiply_panels --------------------------------------------------------------------------------------

/// With `transposed`, a is stored [K,M]; with `by_column`, b is stored [N,K].
PanelProduct panel_product(const Matrix& a, bool transposed, const Matrix& b, Matrix& c,
                           bool by_column = false) {
  return {c.rows,
          c.columns,
          transposed ? a.rows : a.columns,
          a.values.data(),
          transposed ? 1 : a.leading,
          transposed ? a.leading : 1,
          b.values.data(),
          by_column ? 1 : b.leading,
          by_column ? b.leading : 1,
          c.values.data(),
          c.leading};
}

void multiply(const PanelProduct& p) {
  const int64_t size = panel_scratch(p);
  auto scratch = hwy::AllocateAligned<float>(size_t(size));
  std::fill_n(scratch.get(), size, kNaN);
  multiply_panels(p, scratch.get());
}

const Sizes kPanelSizes[] = {{1, 1, 1},     {4, 24, 8},    {5, 25, 9},    {2, 30, 70}, {3, 7, 5},
                             {9, 100, 600}, {33, 50, 300}, {100, 33, 40}, {50, 60, 1}, {6, 5, 0},
                             {16, 48, 16},  {70, 700, 64}, {4, 23, 1030}, {31, 5, 2},  {8, 72, 30},
                             {1, 10, 60},   {19, 10, 70},  {37, 8, 530},  {4, 61, 40}, {40, 56, 530}};

struct PanelKind {
  bool transposed = false, by_column = false, biased = false, relu = false;
};

void check_panels(Sizes size, PanelKind kind) {
  std::mt19937 random(9);
  Matrix a = kind.transposed ? Matrix(size.K, size.M) : Matrix(size.M, size.K);
  Matrix b = kind.by_column ? Matrix(size.N, size.K) : Matrix(size.K, size.N);
  a.fill(random), b.fill(random);
  const Matrix bias = Matrix(1, size.N).fill(random);
  Matrix c = Matrix(size.M, size.N).fill(12345);
  PanelProduct p = panel_product(a, kind.transposed, b, c, kind.by_column);
  p.bias = kind.biased ? bias.values.data() : nullptr, p.relu = kind.relu;
  multiply(p);
  for (int64_t i = 0; i < size.M; ++i)
    for (int64_t j = 0; j < size.N; ++j) {
      double sum = kind.biased ? bias.at(0, j) : 0, absolute = std::fabs(sum);
      for (int64_t k = 0; k < size.K; ++k) {
        const double product =
            double(kind.transposed ? a.at(k, i) : a.at(i, k)) * (kind.by_column ? b.at(j, k) : b.at(k, j));
        sum += product, absolute += std::fabs(product);
      }
      if (kind.relu) sum = std::max(sum, 0.0);
      ASSERT_NEAR(c.at(i, j), sum, 0x1p-24 * double(size.K + 1) * absolute) << "element " << i << ", " << j;
    }
  c.expect_gaps();
}

TEST_P(LinearProducts, PanelsAgreeWithDouble) {
  for (Sizes size : kPanelSizes) {
    SCOPED_TRACE(testing::Message() << size.M << " x " << size.N << " x " << size.K);
    for (bool transposed : {false, true})
      for (bool by_column : {false, true})
        for (int flags = 0; flags < 4; ++flags)
          check_panels(size, {transposed, by_column, (flags & 1) != 0, (flags & 2) != 0});
  }
}

/// c - rate·(a·b + weight_decay·c), one rounding for each operation.
void update(float& c, float product, float rate, float weight_decay) {
  volatile float decay = weight_decay * c;
  volatile float gradient = product + decay;
  volatile float step = rate * gradient;
  c = c - step;
}

TEST_P(LinearProducts, UpdateHasTheBitsOfProductAndStep) {
  for (Sizes size : kPanelSizes)
    for (bool transposed : {false, true}) {
      SCOPED_TRACE(testing::Message() << size.M << " x " << size.N << " x " << size.K);
      std::mt19937 random(10);
      Matrix a = transposed ? Matrix(size.K, size.M) : Matrix(size.M, size.K);
      a.fill(random);
      const Matrix b = Matrix(size.K, size.N).fill(random);
      Matrix product(size.M, size.N), updated = Matrix(size.M, size.N).fill(random), expected = updated;
      multiply(panel_product(a, transposed, b, product));
      for (int64_t i = 0; i < size.M; ++i)
        for (int64_t j = 0; j < size.N; ++j) update(expected.at(i, j), product.at(i, j), 0.3f, 0.1f);
      PanelProduct p = panel_product(a, transposed, b, updated);
      p.update = true, p.rate = 0.3f, p.weight_decay = 0.1f;
      multiply(p);
      ASSERT_TRUE(same_bits(updated.values, expected.values));
    }
}

/// However c is divided, and whichever order of loops its shape calls for.
TEST_P(LinearProducts, PanelsDoNotDependOnTheCut) {
  std::mt19937 random(11);
  for (Sizes size : {Sizes{10, 100, 700}, {40, 100, 9}, {9, 40, 1}}) {
    const Matrix a = Matrix(size.M, size.K).fill(random), b = Matrix(size.K, size.N).fill(random);
    Matrix whole(size.M, size.N), parts(size.M, size.N);
    multiply(panel_product(a, false, b, whole));
    for (int64_t i = 0; i < size.M; i += 3)
      for (int64_t j = 0; j < size.N; j += 29) {
        PanelProduct p = panel_product(a, false, b, parts);
        p.M = std::min<int64_t>(3, size.M - i), p.N = std::min<int64_t>(29, size.N - j);
        p.a += i * a.leading, p.b += j, p.c += i * parts.leading + j;
        multiply(p);
      }
    EXPECT_TRUE(same_bits(whole.values, parts.values)) << size.K;
  }
}

TEST_P(LinearProducts, PanelsKeepWhatIsNotANumber) {
  for (Sizes size : {Sizes{2, 30, 40}, {9, 30, 40}, {60, 30, 40}, {60, 30, 1}}) {
    const Matrix b = Matrix(size.K, size.N).fill(1);
    Matrix a = Matrix(size.M, size.K).fill(1), c(size.M, size.N);
    a.at(0, 0) = kNaN, a.at(size.M - 1, size.K - 1) = kInfinity;
    PanelProduct p = panel_product(a, false, b, c);
    p.relu = true;
    multiply(p);
    for (int64_t j = 0; j < size.N; ++j) {
      EXPECT_TRUE(std::isnan(c.at(0, j))) << "ReLU keeps NaN";
      EXPECT_EQ(c.at(size.M - 1, j), kInfinity);
      if (size.M > 2) {
        EXPECT_EQ(c.at(1, j), float(size.K));
      }
    }
  }
}

TEST_P(LinearProducts, SmallestNumbersAreNotFlushed) {
  constexpr float kSmall = 0x1p-140f;
  const Matrix a = Matrix(5, 20).fill(kSmall), rows = Matrix(6, 20).fill(1), columns = Matrix(20, 6).fill(1);
  Matrix c(5, 6);
  multiply_rows(row_product(a, rows, nullptr, c, true));
  EXPECT_EQ(c.at(4, 5), 20 * kSmall);
  multiply(panel_product(a, false, columns, c));
  EXPECT_EQ(c.at(4, 5), 20 * kSmall);
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, LinearProducts, testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return hwy::TargetName(info.param); });

}  // namespace
}  // namespace treadle::cpu::linear_products
