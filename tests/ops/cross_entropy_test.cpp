#include "treadle/ops/loss/cross_entropy.h"

#include <cmath>
#include <cstring>

#include "tests/goldens/golden_numbers.h"
#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/softmax/softmax.h"

namespace treadle {
namespace {

void expect_same_bits(const Tensor& a, const Tensor& b, const std::string& what) {
  auto x = a.to_doubles(), y = b.to_doubles();
  ASSERT_EQ(x.size(), y.size()) << what;
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_TRUE(std::memcmp(&x[i], &y[i], sizeof(double)) == 0 || (std::isnan(x[i]) && std::isnan(y[i])))
        << what << ", element " << i << ": " << x[i] << " and " << y[i];
}

/// Samples × classes: small batches, rows that end within a vector, many rows, long rows.
const std::vector<Shape> kShapes{{32, 10}, {1, 1}, {7, 8}, {5, 13}, {3000, 3}, {2, 1001}};

TEST(CrossEntropy, WithGradientGivesTheBitsOfBackward) {
  for (Device device : {kCpu, kSimt})
    for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16})
      for (const Shape& shape : kShapes)
        for (const char* reduction : {"mean", "sum", "none"}) {
          Tensor x = to(cast(goldens::signed_tensor(900, shape, 4), dtype), device).set_requires_grad();
          Tensor labels = to(goldens::label_tensor(901, shape[0], shape[1]), device);
          Tensor loss = cross_entropy(x, labels, reduction);
          loss.backward(loss.rank() ? full(loss.shape(), 1, dtype, device) : Tensor());
          auto both = cross_entropy_with_gradient(x, labels, reduction);
          const std::string what =
              fmt::format("{} {} {} {}", device, name_of(dtype), to_string(shape), reduction);
          expect_same_bits(both.loss, loss, "loss, " + what);
          expect_same_bits(both.dx, x.grad(), "gradient, " + what);
        }
}

/// Rows that overflow, vanish and hold no number at all are among them.
TEST(CrossEntropy, LanesGiveTheBitsOfRows) {
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16})
    for (const Shape& shape : kShapes) {
      if (shape[1] > 64) continue;
      auto values = goldens::signed_tensor(902, shape, 4).to_vector<float>();
      const float unusual[] = {INFINITY, -INFINITY, NAN, 1e30f, -1e30f, -100.f, 0.f};
      for (size_t i = 0; i < values.size(); i += 41) values[i] = unusual[i / 41 % std::size(unusual)];
      Tensor x = cast(Tensor::from(values, shape), dtype),
             labels = goldens::label_tensor(901, shape[0], shape[1]);
      std::vector<LossWithGradient> results;
      for (const char* variant : {"loop", "simd"}) {
        settings().variants = {{"cross_entropy_with_gradient", variant}};
        results.push_back(cross_entropy_with_gradient(x, labels, "none"));
      }
      settings().variants.clear();
      const std::string what = fmt::format("{} {}", name_of(dtype), to_string(shape));
      expect_same_bits(results[0].loss, results[1].loss, "loss, " + what);
      expect_same_bits(results[0].dx, results[1].dx, "gradient, " + what);
    }
}

TEST(CrossEntropy, WithGradientRefusesALabelOutOfRange) {
  for (int64_t label : {-1, 3}) {
    Tensor labels = Tensor::from(std::vector<int64_t>{0, label}, {2});
    for (Device device : {kCpu, kSimt})
      EXPECT_THROW(cross_entropy_with_gradient(Tensor::zeros({2, 3}, DType::f32, device), to(labels, device)),
                   ValueError);
  }
}

/// Operands of the general form, in f64; the targets as labels and as probabilities.
struct General {
  static constexpr int64_t kSamples = 4, kClasses = 5;
  Tensor x = cast(goldens::signed_tensor(920, {kSamples, kClasses}, 4), DType::f64);
  Tensor labels = goldens::label_tensor(921, kSamples, kClasses);
  Tensor weight = cast(goldens::uniform_tensor(922, {kClasses}), DType::f64) + 0.5;
  Tensor probabilities = softmax(cast(goldens::signed_tensor(923, {kSamples, kClasses}, 2), DType::f64));
  int64_t ignored = labels.to_vector<int64_t>()[1];
};

/// The loss by its definition, of logits x.
double defined_loss(const std::vector<double>& x, const General& of, bool weighted, bool by_label,
                    const CrossEntropyOptions& options) {
  const auto labels = of.labels.to_vector<int64_t>();
  const auto weight = of.weight.to_doubles(), q = of.probabilities.to_doubles();
  const int64_t C = General::kClasses;
  double loss = 0, weights = 0;
  for (int64_t n = 0; n < General::kSamples; ++n) {
    if (by_label && labels[n] == options.ignore_index) continue;
    double sum = 0;
    for (int64_t c = 0; c < C; ++c) sum += std::exp(x[n * C + c]);
    for (int64_t c = 0; c < C; ++c) {
      const double share = by_label ? c == labels[n] : q[n * C + c];
      const double smoothed = share * (1 - options.label_smoothing) + options.label_smoothing / double(C);
      loss -= (weighted ? weight[c] : 1) * smoothed * std::log(std::exp(x[n * C + c]) / sum);
    }
    weights += by_label && weighted ? weight[labels[n]] : 1;
  }
  return options.reduction == "mean" ? loss / weights : loss;
}

void expect_as_defined(const General& of, bool weighted, bool by_label, const CrossEntropyOptions& options) {
  const Tensor x = of.x.detach().set_requires_grad();
  Tensor loss =
      cross_entropy(x, by_label ? of.labels : of.probabilities, options, weighted ? of.weight : Tensor());
  if (options.reduction == "none") loss = sum(loss);
  loss.backward();
  auto values = x.to_doubles();
  const auto gradient = x.grad().to_doubles();
  EXPECT_NEAR(loss.item(), defined_loss(values, of, weighted, by_label, options), 1e-13);
  constexpr double kStep = 1e-5;  // a central difference is off by its square, and by 2^-53 over it
  for (size_t i = 0; i < values.size(); ++i) {
    auto moved = [&](double step) {
      std::vector<double> there = values;
      there[i] += step;
      return defined_loss(there, of, weighted, by_label, options);
    };
    EXPECT_NEAR(gradient[i], (moved(kStep) - moved(-kStep)) / (2 * kStep), 1e-8) << i;
  }
}

TEST(CrossEntropy, GeneralFormIsItsDefinition) {
  const General of;
  for (bool weighted : {false, true})
    for (bool by_label : {false, true})
      for (double smoothing : {0., 0.25, 1.})
        for (const char* reduction : {"mean", "sum", "none"})
          for (int64_t ignored : {int64_t(-100), of.ignored}) {
            SCOPED_TRACE(fmt::format("weighted {}, by label {}, smoothing {}, {}, ignored {}", weighted,
                                     by_label, smoothing, reduction, ignored));
            expect_as_defined(of, weighted, by_label, {reduction, smoothing, ignored});
          }
}

/// F.cross_entropy(x, target, weight, label_smoothing=0.1, ignore_index=ignored) of the same numbers.
TEST(CrossEntropy, GeneralFormIsPyTorchs) {
  const General of;
  auto loss = [&](const Tensor& target, const char* reduction) {
    return cross_entropy(of.x, target, {reduction, 0.1, of.ignored}, of.weight).to_doubles();
  };
  EXPECT_NEAR(loss(of.labels, "mean")[0], 3.9636137800507654, 1e-14);
  EXPECT_NEAR(loss(of.labels, "sum")[0], 4.648226458024252, 1e-14);
  EXPECT_NEAR(loss(of.labels, "none")[0], 2.032992474548514, 1e-14);
  EXPECT_EQ(loss(of.labels, "none")[1], 0);
  EXPECT_NEAR(loss(of.probabilities, "mean")[0], 3.1205222424174277, 1e-14);
}

TEST(CrossEntropy, ShortFormTakesProbabilitiesToo) {
  const General of;
  for (const char* reduction : {"mean", "sum", "none"})
    EXPECT_EQ(cross_entropy(of.x, of.probabilities, reduction).to_doubles(),
              cross_entropy(of.x, of.probabilities, CrossEntropyOptions{.reduction = reduction}).to_doubles())
        << reduction;
}

/// Logits of -∞ are classes that cannot be: they give nothing where they are not the label.
TEST(CrossEntropy, GeneralFormTakesImpossibleClasses) {
  const Tensor x = Tensor::from({1, -INFINITY, 1}, {1, 3}),
               label = Tensor::from(std::vector<int64_t>{2}, {1});
  EXPECT_FLOAT_EQ(cross_entropy(x, label, {}, {}).item(), std::log(2.f));
}

TEST(CrossEntropy, GeneralFormRefusesTheWorstValues) {
  const General of;
  auto call = [&](const Tensor& x, const Tensor& target, const Tensor& weight, CrossEntropyOptions options) {
    return [=] { cross_entropy(x, target, options, weight); };
  };
  const Tensor half = cast(of.x, DType::f16), vector = Tensor::zeros({5}, DType::f64);
  const Tensor wrong = Tensor::from(std::vector<int64_t>{0, 1, 5, 2}, {4});
  expect_refused({
      refused<ValueError>("undefined", {"operand 1"}, call({}, of.labels, {}, {})),
      refused<ValueError>("undefined", {"operand 2"}, call(of.x, {}, {}, {})),
      refused<ValueError>("smoothing", {"1.5"}, call(of.x, of.labels, {}, {"mean", 1.5})),
      refused<ValueError>("smoothing", {"nan"}, call(of.x, of.labels, {}, {"mean", NAN})),
      refused<ValueError>("reduction", {"'median'"}, call(of.x, of.probabilities, {}, {"median"})),
      refused<ValueError>("label", {"label 5 of sample 2", "5 classes"}, call(of.x, wrong, {}, {})),
      refused<ShapeError>("one axis", {"[5]"}, call(vector, of.labels, {}, {})),
      refused<ShapeError>("weight", {"weight has shape [4, 5]"}, call(of.x, of.labels, of.x, {})),
      refused<ShapeError>("probabilities", {"[5]", "[4, 5]"}, call(of.x, vector, {}, {})),
      refused<DTypeError>("probabilities", {"f64", "f16"}, call(of.x, half, {}, {})),
      refused<DTypeError>("weight", {"f16", "f64"}, call(half, of.labels, vector, {})),
  });
}

}  // namespace
}  // namespace treadle
