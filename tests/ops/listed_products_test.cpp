/// The products that skip the zeros of x, against plain loops. Operands are small whole numbers and fractions
/// by powers of two, so that every sum is exact and results are compared for equality; on every instruction
/// set this CPU has.
#include "treadle/ops/matrix/cpu/listed_products.h"
#include "tests/simd_targets.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace treadle::cpu::listed {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kGap = 3;  ///< elements between rows, which hold NaN

struct Matrix {
  int64_t rows, columns, row = columns + kGap;
  std::vector<float> values = std::vector<float>(size_t(rows * row + 1), kNaN);

  float& at(int64_t i, int64_t j) { return values[size_t(i * row + j)]; }
  float at(int64_t i, int64_t j) const { return values[size_t(i * row + j)]; }
  float* data() { return values.data(); }

  /// Whole numbers up to 3, of which a share `density` is not zero.
  Matrix& fill(std::mt19937& random, double density = 1) {
    std::uniform_int_distribution<int> number(1, 3);
    std::uniform_real_distribution<double> uniform;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        const float value = float(number(random)) * (uniform(random) < 0.5 ? -1.0f : 1.0f);
        at(i, j) = uniform(random) < density ? value : 0.0f;
      }
    return *this;
  }

  void expect_gaps() const {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = columns; j < row; ++j) ASSERT_TRUE(std::isnan(at(i, j))) << "behind row " << i;
  }
};

struct Layer {
  Matrix x, w, dy, bias;

  Layer(int64_t N, int64_t in, int64_t out, double density) : x{N, in}, w{in, out}, dy{N, out}, bias{1, out} {
    std::mt19937 random(5);
    x.fill(random, density), w.fill(random), dy.fill(random), bias.fill(random);
  }
  int64_t N() const { return x.rows; }
  int64_t in() const { return x.columns; }
  int64_t out() const { return dy.columns; }

  Matrix forward(bool biased, bool relu) {
    Matrix y{N(), out()};
    std::vector<float> scratch(size_t(listed_product_scratch(N())));
    multiply_listed({N(), in(), out(), x.data(), x.row, w.data(), w.row, biased ? bias.data() : nullptr,
                     y.data(), y.row, relu},
                    scratch.data());
    return y;
  }
  ListedGradient gradient() { return {N(), in(), out(), x.data(), x.row, dy.data(), dy.row}; }
  std::vector<float> gradient_scratch() const {
    return std::vector<float>(size_t(listed_gradient_scratch(N(), out())));
  }
  Matrix input_gradient() {
    Matrix dx{N(), in()};
    auto scratch = gradient_scratch();
    listed_input_gradient(gradient(), w.data(), w.row, dx.data(), dx.row, scratch.data());
    return dx;
  }
  Matrix weight_gradient() {
    Matrix dw{in(), out()};
    auto scratch = gradient_scratch();
    listed_weight_gradient(gradient(), {dw.data(), dw.row}, scratch.data());
    return dw;
  }
  void update(float rate, float weight_decay) {
    auto scratch = gradient_scratch();
    listed_weight_gradient(gradient(), {w.data(), w.row, true, rate, weight_decay}, scratch.data());
  }

  double expected_y(int64_t n, int64_t o, bool biased, bool relu) const {
    double sum = biased ? bias.at(0, o) : 0;
    for (int64_t i = 0; i < in(); ++i)
      if (x.at(n, i) != 0) sum += double(x.at(n, i)) * w.at(i, o);
    return relu && sum < 0 ? 0 : sum;
  }
  double expected_dx(int64_t n, int64_t i) const {
    double sum = 0;
    for (int64_t o = 0; o < out() && !(x.at(n, i) <= 0); ++o) sum += double(dy.at(n, o)) * w.at(i, o);
    return sum;
  }
  double expected_dw(int64_t i, int64_t o) const {
    double sum = 0;
    for (int64_t n = 0; n < N(); ++n) sum += double(dy.at(n, o)) * x.at(n, i);
    return sum;
  }
};

class ListedProducts : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }

  /// Calls check(layer) for sizes around every block edge, and densities.
  template <class Check>
  void for_each_layer(Check check) {
    for (int64_t N : {1, 3, 5, 17, 70})
      for (int64_t in : {1, 70, 530})
        for (int64_t out : {7, 64, 131})
          for (double density : {0.0, 0.3, 1.0}) {
            SCOPED_TRACE(testing::Message()
                         << "N " << N << ", in " << in << ", out " << out << ", density " << density);
            Layer layer(N, in, out, density);
            check(layer);
            if (testing::Test::HasFatalFailure()) return;
          }
  }
};

TEST_P(ListedProducts, ForwardIsTheProduct) {
  for_each_layer([](Layer& layer) {
    for (bool biased : {false, true})
      for (bool relu : {false, true}) {
        const Matrix y = layer.forward(biased, relu);
        for (int64_t n = 0; n < layer.N(); ++n)
          for (int64_t o = 0; o < layer.out(); ++o)
            ASSERT_EQ(y.at(n, o), layer.expected_y(n, o, biased, relu)) << "element " << n << ", " << o;
        y.expect_gaps();
      }
  });
}

TEST_P(ListedProducts, InputGradientIsMasked) {
  for_each_layer([](Layer& layer) {
    const Matrix dx = layer.input_gradient();
    for (int64_t n = 0; n < layer.N(); ++n)
      for (int64_t i = 0; i < layer.in(); ++i)
        ASSERT_EQ(dx.at(n, i), layer.expected_dx(n, i)) << "element " << n << ", " << i;
    dx.expect_gaps();
  });
}

TEST_P(ListedProducts, WeightGradientIsTheProduct) {
  for_each_layer([](Layer& layer) {
    const Matrix dw = layer.weight_gradient();
    for (int64_t i = 0; i < layer.in(); ++i)
      for (int64_t o = 0; o < layer.out(); ++o)
        ASSERT_EQ(dw.at(i, o), layer.expected_dw(i, o)) << "element " << i << ", " << o;
    dw.expect_gaps();
  });
}

TEST_P(ListedProducts, UpdateStepsAlongTheGradient) {
  for (float decay : {0.0f, 0.25f})
    for_each_layer([&](Layer& layer) {
      const Matrix before = layer.w;
      layer.update(0.5f, decay);
      for (int64_t i = 0; i < layer.in(); ++i)
        for (int64_t o = 0; o < layer.out(); ++o)
          ASSERT_EQ(layer.w.at(i, o),
                    before.at(i, o) - 0.5 * (layer.expected_dw(i, o) + decay * before.at(i, o)))
              << "element " << i << ", " << o;
      layer.w.expect_gaps();
    });
}

TEST_P(ListedProducts, ZerosMeetNothing) {
  for (int64_t N : {1, 5}) {
    Layer layer(N, 40, 20, 1);
    for (int64_t n = 0; n < N; ++n) layer.x.at(n, 11) = n % 2 ? 0.0f : -0.0f;
    for (int64_t o = 0; o < 20; ++o) layer.w.at(11, o) = o % 2 ? kInfinity : kNaN;
    const Matrix y = layer.forward(false, false), dx = layer.input_gradient();
    for (int64_t n = 0; n < N; ++n) {
      for (int64_t o = 0; o < 20; ++o) ASSERT_TRUE(std::isfinite(y.at(n, o)));
      ASSERT_EQ(dx.at(n, 11), 0);
    }
  }
}

TEST_P(ListedProducts, NaNAndInfinityPropagate) {
  for (int64_t N : {1, 5}) {
    Layer layer(N, 40, 20, 0.3);
    for (int64_t o = 0; o < 20; ++o) layer.w.at(3, o) = 1, layer.w.at(4, o) = kInfinity;
    for (int64_t n = 0; n < N; ++n) layer.x.at(n, 3) = 0, layer.x.at(n, 4) = 0;
    layer.x.at(0, 3) = kNaN;
    Matrix y = layer.forward(true, true), dw = layer.weight_gradient(), dx = layer.input_gradient();
    for (int64_t o = 0; o < 20; ++o) {
      ASSERT_TRUE(std::isnan(y.at(0, o)));
      ASSERT_TRUE(std::isnan(dw.at(3, o)));
    }
    ASSERT_EQ(dx.at(0, 3), layer.expected_dx(0, 3));
    layer.x.at(0, 3) = 0, layer.x.at(0, 4) = 2;
    y = layer.forward(true, true);
    for (int64_t o = 0; o < 20; ++o) ASSERT_EQ(y.at(0, o), kInfinity);
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, ListedProducts, testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return hwy::TargetName(info.param); });

}  // namespace
}  // namespace treadle::cpu::listed
