/// Initialisers: bounds, moments, fans, orthogonality, and what they refuse.
#include "treadle/nn/init.h"

#include <cmath>
#include <limits>

#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/nn/conv2d.h"
#include "treadle/nn/linear.h"
#include "treadle/nn/sequential.h"
#include "treadle/ops/layout/copy.h"

namespace treadle {
namespace {

constexpr int64_t kMany = 100'000;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct Moments {
  double mean = 0, variance = 0, least = kInfinite, largest = -kInfinite;

  explicit Moments(const Tensor& x) {
    const auto values = x.to_doubles();
    for (double value : values) {
      mean += value / double(values.size());
      least = std::min(least, value), largest = std::max(largest, value);
    }
    for (double value : values) variance += (value - mean) * (value - mean) / double(values.size());
  }
};

/// Of n independent numbers the mean is off by σ/√n, the variance by less than σ²·√(2/n) where the fourth
/// moment is at most the normal distribution's, 3σ⁴; five times that comes once in a million.
void expect_moments(const Tensor& x, double mean, double variance) {
  const Moments found(x);
  const double n = double(x.numel());
  EXPECT_NEAR(found.mean, mean, 5 * std::sqrt(variance / n));
  EXPECT_NEAR(found.variance, variance, 5 * variance * std::sqrt(2 / n));
}

Tensor many() { return Tensor::empty({kMany}); }

TEST(Init, Distributions) {
  Generator generator(7);
  const Tensor x = many();
  init_uniform(x, -1, 3, generator);
  expect_moments(x, 1, 16. / 12);
  EXPECT_TRUE(Moments(x).least >= -1 && Moments(x).largest <= 3);
  init_normal(x, 2, 0.5, generator);
  expect_moments(x, 2, 0.25);
  init_constant(x, 0.25);
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(kMany, 0.25f));
}

double density(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * M_PI); }
double cumulative(double z) { return std::erfc(-z / std::sqrt(2)) / 2; }
double weighted_density(double z) { return std::isinf(z) ? 0 : z * density(z); }

/// Against the moments of a normal distribution cut at a and b: with Z = Φ(b) - Φ(a) the mean is
/// (φ(a) - φ(b))/Z and the variance 1 + (a·φ(a) - b·φ(b))/Z - mean².
void expect_truncated(double low, double high) {
  Generator generator(11);
  const Tensor x = many();
  init_truncated_normal(x, 1, 0.5, low, high, generator);
  const double a = (low - 1) / 0.5, b = (high - 1) / 0.5, mass = cumulative(b) - cumulative(a);
  const double mean = (density(a) - density(b)) / mass,
               variance = 1 + (weighted_density(a) - weighted_density(b)) / mass - mean * mean;
  expect_moments(x, 1 + 0.5 * mean, 0.25 * variance);
  EXPECT_TRUE(Moments(x).least >= low && Moments(x).largest <= high);
}

TEST(Init, TruncatedNormal) {
  expect_truncated(0, 2);
  expect_truncated(0.5, 4);
  expect_truncated(1, 1.125);
  expect_truncated(-kInfinite, kInfinite);
  expect_truncated(-kInfinite, 0.25);
}

/// Behind the tenth deviation numbers lie a + an exponential distribution of mean 1/a nearly; far out on the
/// bound itself.
TEST(Init, TruncatedFarFromTheMean) {
  const Tensor x = many();
  init_truncated_normal(x, 0, 1, 10, kInfinite);
  EXPECT_NEAR(Moments(x).mean, 10 + 1 / 10.2, 0.002);
  init_truncated_normal(x, 0, 1, -kInfinite, -1e30);
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(kMany, -1e30f));
}

/// As torch.nn.init._calculate_fan_in_and_fan_out has them, for one group.
TEST(Init, Fans) {
  auto expect = [](const Shape& shape, int64_t groups, int64_t in, int64_t out) {
    const Fans fans = fans_of(Tensor::zeros(shape), groups);
    EXPECT_EQ(fans.in, in) << to_string(shape);
    EXPECT_EQ(fans.out, out) << to_string(shape);
  };
  expect({3, 5}, 1, 5, 3);
  expect({16, 6, 5, 3}, 1, 6 * 15, 16 * 15);
  expect({8, 4, 3}, 1, 4 * 3, 8 * 3);
  expect({16, 3, 5, 3}, 2, 3 * 15, 8 * 15);
  expect({16, 1, 3, 3}, 16, 9, 9);
}

TEST(Init, Gains) {
  EXPECT_EQ(calculate_gain("linear"), 1);
  EXPECT_EQ(calculate_gain("sigmoid"), 1);
  EXPECT_EQ(calculate_gain("tanh"), 5. / 3);
  EXPECT_EQ(calculate_gain("relu"), std::sqrt(2.));
  EXPECT_EQ(calculate_gain("leaky_relu", 1), 1);
  EXPECT_EQ(calculate_gain("leaky_relu"), std::sqrt(2 / 1.0001));
  EXPECT_EQ(calculate_gain("selu"), 0.75);
}

/// Filters [K, C, R, S] with fans of 60·9 and 200·9.
TEST(Init, VarianceFollowsTheFans) {
  Generator generator(13);
  const Tensor w = Tensor::empty({200, 60, 3, 3});
  const double in = 60 * 9, out = 200 * 9;
  init_xavier_normal(w, 2, 1, generator);
  expect_moments(w, 0, 4 * 2 / (in + out));
  init_xavier_uniform(w, 2, 1, generator);
  expect_moments(w, 0, 4 * 2 / (in + out));
  const double bound = 2 * std::sqrt(6 / (in + out));
  EXPECT_TRUE(Moments(w).largest <= bound * (1 + 0x1p-23) && Moments(w).largest > 0.999 * bound);
  init_kaiming_normal(w, {}, generator);
  expect_moments(w, 0, 2 / in);
  init_kaiming_uniform(w, {.mode = FanMode::out, .nonlinearity = "leaky_relu", .slope = 2, .groups = 2},
                       generator);
  expect_moments(w, 0, 2. / 5 / (out / 2));
  init_xavier_normal(w, 1, 4, generator);
  expect_moments(w, 0, 2 / (in + out / 4));
}

/// Each product of two rows, or columns where there are more rows, is 0 or gain², but for its rounding to the
/// dtype, and that of the sum here.
void expect_orthogonal(const Tensor& weight, double gain, Generator& generator) {
  init_orthogonal(weight, gain, generator);
  const auto w = weight.to_doubles();
  const int64_t rows = weight.size(0), columns = weight.numel() / rows;
  const bool by_rows = rows <= columns;
  auto element = [&](int64_t vector, int64_t i) {
    return w[size_t(by_rows ? vector * columns + i : i * columns + vector)];
  };
  const int64_t length = std::max(rows, columns);
  const double roundoff = weight.dtype() == DType::f64 ? 0x1p-53 : 0x1p-24;
  const double allowed = (8 * roundoff + double(length) * 0x1p-53) * gain * gain;
  for (int64_t a = 0; a < std::min(rows, columns); ++a)
    for (int64_t b = 0; b <= a; ++b) {
      double product = 0;
      for (int64_t i = 0; i < length; ++i) product += element(a, i) * element(b, i);
      EXPECT_NEAR(product, a == b ? gain * gain : 0, allowed) << a << ", " << b;
    }
}

TEST(Init, Orthogonal) {
  Generator generator(17);
  for (DType dtype : {DType::f32, DType::f64})
    for (const Shape& shape : {Shape{24, 24}, Shape{7, 33}, Shape{33, 7}, Shape{16, 4, 3, 3}, Shape{1, 5}})
      expect_orthogonal(Tensor::empty(shape, dtype), 1.5, generator);
  expect_orthogonal(Linear(24, 9).weight, 1, generator);  // which lies in memory as [in][out]
}

/// Uniform among orthogonal matrices: each element has variance 1/n, and no sign is preferred. Of so many
/// some begin with rows that are nearly the same.
TEST(Init, OrthogonalHasNoPreference) {
  Generator generator(19);
  double first = 0, diagonal = 0, squares = 0;
  constexpr int kTimes = 2000, kSize = 4;
  const Tensor w = Tensor::empty({kSize, kSize}, DType::f64);
  for (int i = 0; i < kTimes; ++i) {
    expect_orthogonal(w, 1, generator);
    const auto values = w.to_doubles();
    first += values[0] / kTimes, diagonal += values[15] / kTimes, squares += values[15] * values[15] / kTimes;
  }
  const double deviation = std::sqrt(1. / kSize / kTimes);
  EXPECT_NEAR(first, 0, 5 * deviation);
  EXPECT_NEAR(diagonal, 0, 5 * deviation);
  EXPECT_NEAR(squares, 1. / kSize, 5 * std::sqrt(2.) / kSize / std::sqrt(kTimes));
}

TEST(Init, FollowsTheSeedOnEveryDeviceAndInEveryDtype) {
  auto filled = [](auto init, Device device, DType dtype) {
    Generator generator(23);
    const Tensor w = Tensor::zeros({5, 7}, dtype, device);
    init(w, generator);
    return w.to_doubles();
  };
  auto orthogonal = [](const Tensor& w, Generator& g) { init_orthogonal(w, 1, g); };
  auto truncated = [](const Tensor& w, Generator& g) { init_truncated_normal(w, 0, 1, -2, 2, g); };
  auto expect = [&](auto init) {
    const auto exact = filled(init, kCpu, DType::f64);
    EXPECT_EQ(exact, filled(init, kSimt, DType::f64));
    const auto half = filled(init, kSimt, DType::f16);
    for (size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(half[i], exact[i], 2 * 0x1p-11);
  };
  expect(orthogonal);
  expect(truncated);
}

TEST(Init, ModelIsFilledByItsParameters) {
  Sequential model{std::make_shared<Linear>(300, 400), std::make_shared<Linear>(400, 10)};
  for (auto& [name, parameter] : model.named_parameters())
    parameter.rank() >= 2 ? init_kaiming_normal(parameter) : init_constant(parameter, 0);
  const auto parameters = model.parameters();
  expect_moments(parameters[0], 0, 2. / 300);
  EXPECT_EQ(parameters[1].to_vector<float>(), std::vector<float>(400, 0));
  expect_moments(parameters[2], 0, 2. / 400);
  EXPECT_TRUE(parameters[0].requires_grad());
}

TEST(Init, NothingToFill) {
  for (const Shape& shape : {Shape{0, 3}, Shape{3, 0}, Shape{0, 0}}) {
    const Tensor none = Tensor::zeros(shape);
    init_xavier_uniform(none), init_kaiming_normal(none), init_orthogonal(none), init_truncated_normal(none);
  }
}

TEST(Init, RefusesTheWorstValues) {
  const Tensor w = Tensor::zeros({4, 6}), b = Tensor::zeros({4}), whole = Tensor::zeros({4, 6}, DType::i64);
  auto truncated = [&](double mean, double deviation, double low, double high) {
    return [=] { init_truncated_normal(w, mean, deviation, low, high); };
  };
  auto fan_error = [&](KaimingOptions options) { return [=] { init_kaiming_uniform(w, options); }; };
  expect_refused({
      refused<ValueError>("undefined", {"undefined"}, [] { init_constant({}, 1); }),
      refused<ValueError>("undefined", {"undefined"}, [] { init_orthogonal({}); }),
      refused<ValueError>("undefined", {"undefined"}, [] { init_truncated_normal({}); }),
      refused<DTypeError>("integers", {"i64"}, [&] { init_constant(whole, 1); }),
      refused<DTypeError>("integers", {"i64"}, [&] { init_orthogonal(whole); }),
      refused<DTypeError>("integers", {"i64"}, [&] { init_truncated_normal(whole); }),
      refused<ValueError>("constant", {"init_constant", "nan"}, [&] { init_constant(w, NAN); }),
      refused<ValueError>("crossed", {"3", "1"}, [&] { init_uniform(w, 3, 1); }),
      refused<ValueError>("deviation", {"-1"}, [&] { init_normal(w, 0, -1); }),
      refused<ValueError>("mean", {"init_truncated_normal", "nan"}, truncated(NAN, 1, -2, 2)),
      refused<ValueError>("no deviation", {"deviation 0"}, truncated(0, 0, -2, 2)),
      refused<ValueError>("deviation", {"inf"}, truncated(0, kInfinite, -2, 2)),
      refused<ValueError>("nothing between", {"2 and 2"}, truncated(0, 1, 2, 2)),
      refused<ValueError>("bounds", {"nan"}, truncated(0, 1, NAN, 2)),
      refused<ShapeError>("one axis", {"[4]", "[out, in, ...]"}, [&] { init_xavier_normal(b); }),
      refused<ShapeError>("one axis", {"[4]"}, [&] { init_orthogonal(b); }),
      refused<ValueError>("gain", {"init_xavier", "-1"}, [&] { init_xavier_uniform(w, -1); }),
      refused<ValueError>("gain", {"init_orthogonal", "nan"}, [&] { init_orthogonal(w, NAN); }),
      refused<ValueError>("groups", {"4 output channels", "3 groups"}, fan_error({.groups = 3})),
      refused<ValueError>("groups", {"0 groups"}, fan_error({.groups = 0})),
      refused<ValueError>("name", {"'softmax'", "leaky_relu"}, fan_error({.nonlinearity = "softmax"})),
      refused<ValueError>("slope", {"nan"}, fan_error({.slope = NAN})),
  });
}

}  // namespace
}  // namespace treadle
