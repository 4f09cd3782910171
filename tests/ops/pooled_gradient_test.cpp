/// The SIMD variants of the gradients of conv2d_max_pool2d against the reference, from no gradient at all to
/// one in every window, for sizes around every block edge, on every instruction set this CPU has.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/simd_targets.h"
#include "treadle/core/parallel_for.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d.h"
#include "treadle/ops/layout/copy.h"

namespace treadle::pooled_gradient {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Geometry {
  const char* label;
  Shape x, w;
  Conv2dMaxPool2dOptions options = {};

  Shape y() const {
    const std::array inputs{TensorSpec::of(x, DType::f32), TensorSpec::of(w, DType::f32)};
    return op_named("conv2d_max_pool2d").infer(inputs, Attributes::of(options))[0].shape;
  }
};

Conv2dMaxPool2dOptions options(Conv2dOptions conv, Pair pool = 2, Pair pool_stride = 0,
                               Pads pool_padding = 0) {
  return {conv, pool, pool_stride, pool_padding};
}

const Geometry kGeometries[] = {
    {"one of all", {1, 1, 2, 2}, {1, 1, 1, 1}},
    {"one channel", {3, 1, 9, 12}, {19, 1, 3, 3}},
    {"one channel, padded", {2, 1, 8, 7}, {17, 1, 3, 2}, options({.padding = {1, 2, 0, 1}})},
    {"one channel, windows of one row", {2, 1, 5, 11}, {16, 1, 2, 3}, options({.stride = {1, 2}}, {1, 3})},
    {"two channels, 2x2", {18, 2, 6, 5}, {16, 2, 2, 2}},
    {"few channels", {3, 5, 9, 11}, {7, 5, 3, 3}, options({.padding = 1})},
    {"few channels, 5x5", {5, 6, 14, 14}, {16, 6, 5, 5}},
    {"narrow", {2, 3, 9, 3}, {5, 3, 4, 3}, options({}, {2, 1})},
    {"many channels", {9, 35, 9, 9}, {18, 35, 3, 3}, options({.padding = {0, 1, 2, 1}})},
    {"long rows of taps", {2, 9, 13, 17}, {5, 9, 7, 7}, options({.stride = 2, .padding = 3})},
    {"1x1", {2, 40, 5, 7}, {9, 40, 1, 1}},
    {"places that no window covers", {2, 19, 12, 13}, {6, 19, 2, 2}, options({.stride = 3})},
    {"dilated", {2, 33, 12, 13}, {4, 33, 3, 3}, options({.padding = 2, .dilation = {2, 3}})},
    {"grouped", {2, 36, 8, 7}, {10, 18, 3, 3}, options({.groups = 2})},
    {"overlapping pool", {2, 4, 11, 12}, {9, 4, 3, 3}, options({}, 3, 2, 1)},
    {"many places", {1, 4, 12, 14}, {9, 4, 3, 3}, options({}, {5, 6})},
    {"bands of rows", {1, 4, 72, 46}, {3, 4, 3, 3}, options({.padding = 1})},
    {"many filters", {1, 16, 6, 6}, {150, 16, 3, 3}},
};

/// Which windows have a gradient.
enum class Density { none, one, some, all };

struct Operands {
  Tensor x, w, dy, choice;
};

Operands make_operands(const Geometry& g, Density density, bool channels_last) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> uniform(-1, 1);
  auto filled = [&](const Shape& shape) {
    std::vector<float> values(size_t(shape.numel()));
    for (float& value : values) value = uniform(random);
    return Tensor::from(values, shape);
  };
  const Shape y = g.y();
  const int64_t places = g.options.pool_kernel.height * g.options.pool_kernel.width;
  std::vector<uint8_t> choice(size_t(y.numel()), kNoChoice);
  for (size_t i = 0; i < choice.size(); ++i) {
    const uint8_t place = uint8_t(random() % uint64_t(places));
    const bool open = density == Density::all || (density == Density::some && random() % 3 == 0) ||
                      (density == Density::one && i == choice.size() / 2);
    if (open) choice[i] = place;
  }
  Operands operands{filled(g.x), filled(g.w), filled(y), Tensor::from(choice, y)};
  if (!channels_last) return operands;
  return {to_channels_last(operands.x), operands.w, to_channels_last(operands.dy),
          to_channels_last(operands.choice)};
}

ReferenceTensor reference_of(const Tensor& x, bool absolute) {
  ReferenceTensor reference{x.shape(), x.to_doubles()};
  if (absolute)
    for (double& value : reference.values) value = std::fabs(value);
  return reference;
}

/// Compares with the reference; each result is a sum of at most `terms` products.
void expect_reference(const char* name, const std::vector<Tensor>& inputs, const Attributes& attributes,
                      const std::vector<Tensor>& outputs, int64_t terms) {
  const Op& op = op_named(name);
  std::vector<ReferenceTensor> exact, absolute;
  for (const Tensor& input : inputs)
    exact.push_back(reference_of(input, false)), absolute.push_back(reference_of(input, true));
  const auto expected = op.reference(exact, attributes), scale = op.reference(absolute, attributes);
  for (size_t k = 0; k < outputs.size(); ++k) {
    const auto values = outputs[k].to_doubles();
    for (size_t i = 0; i < values.size(); ++i) {
      const double wanted = expected[k].values[i];
      if (std::isfinite(wanted))
        ASSERT_NEAR(values[i], wanted, 0x1p-24 * double(terms + 1) * scale[k].values[i])
            << name << " output " << k << " element " << i;
      else
        ASSERT_TRUE(std::isnan(wanted) ? std::isnan(values[i]) : values[i] == wanted)
            << name << " output " << k << " element " << i << " is " << values[i] << ", wanted " << wanted;
    }
  }
}

Conv2dMaxPool2dWeightGradientOptions weight_options(const Geometry& g) {
  return {g.options, {g.w[2], g.w[3]}};
}

void expect_weight_gradient(const Geometry& g, const Operands& o) {
  auto [dw, db] = conv2d_max_pool2d_weight_gradient(o.x, o.dy, o.choice, weight_options(g));
  const Shape y = g.y();
  expect_reference("conv2d_max_pool2d_weight_gradient", {o.x, o.dy, o.choice},
                   Attributes::of(weight_options(g)), {dw, db}, y[0] * y[2] * y[3]);
}

void expect_input_gradient(const Geometry& g, const Operands& o, bool channels_last) {
  const Conv2dMaxPool2dInputGradientOptions options{g.options, {g.x[2], g.x[3]}, channels_last};
  const Tensor dx = conv2d_max_pool2d_input_gradient(o.dy, o.choice, o.w, options);
  // Overlapping windows meet in a place at most once per place of theirs.
  const int64_t places = options.pool_kernel.height * options.pool_kernel.width;
  expect_reference("conv2d_max_pool2d_input_gradient", {o.dy, o.choice, o.w}, Attributes::of(options), {dx},
                   g.w[0] * g.w[2] * g.w[3] * places);
}

class PooledGradient : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override {
    hwy::SetSupportedTargetsForTest(0);
    settings().variants.clear();
    set_num_threads(threads_);
  }

 private:
  int threads_ = num_threads();
};

/// Calls f(geometry, operands, channels_last) for everything there is.
template <class F>
void for_all_operands(F f) {
  for (const Geometry& g : kGeometries)
    for (Density density : {Density::none, Density::one, Density::some, Density::all})
      for (bool channels_last : {false, true}) {
        SCOPED_TRACE(std::string(g.label) + (channels_last ? ", channels-last" : ", row-major") +
                     ", density " + std::to_string(int(density)));
        f(g, make_operands(g, density, channels_last), channels_last);
        if (testing::Test::HasFatalFailure()) return;
      }
}

TEST_P(PooledGradient, OfWeightsFromListsIsTheReference) {
  settings().variants["conv2d_max_pool2d_weight_gradient"] = "listed";
  for_all_operands([](const Geometry& g, const Operands& o, bool) { expect_weight_gradient(g, o); });
}

TEST_P(PooledGradient, OfWeightsByWhatFitsBestIsTheReference) {
  for_all_operands([](const Geometry& g, const Operands& o, bool) { expect_weight_gradient(g, o); });
}

TEST_P(PooledGradient, OfInputIsTheReference) {
  settings().variants["conv2d_max_pool2d_input_gradient"] = "listed";
  for_all_operands([](const Geometry& g, const Operands& o, bool channels_last) {
    expect_input_gradient(g, o, channels_last);
  });
}

/// One dy that is no ordinary number reaches what it is multiplied by, and nothing else.
TEST_P(PooledGradient, SpecialNumbersStayWhereTheyBelong) {
  const Geometry geometries[] = {{"one channel", {2, 1, 8, 9}, {16, 1, 3, 3}},
                                 {"few channels", {2, 3, 8, 9}, {5, 3, 3, 3}},
                                 {"many channels", {2, 33, 8, 9}, {5, 33, 3, 3}}};
  for (const Geometry& g : geometries)
    for (float special : {kNaN, kInfinity, -kInfinity})
      for (bool channels_last : {false, true}) {
        SCOPED_TRACE(std::string(g.label) + (channels_last ? ", channels-last, " : ", row-major, ") +
                     std::to_string(special));
        Operands o = make_operands(g, Density::some, false);
        auto dy = o.dy.to_vector<float>();
        auto choice = o.choice.to_vector<uint8_t>();
        choice[1] = 3, dy[1] = special;
        choice[2] = kNoChoice, dy[2] = kNaN;  // closed: must not be seen
        o.dy = Tensor::from(dy, g.y()), o.choice = Tensor::from(choice, g.y());
        if (channels_last) o.dy = to_channels_last(o.dy), o.choice = to_channels_last(o.choice);
        expect_weight_gradient(g, o);
        expect_input_gradient(g, o, channels_last);
        if (HasFatalFailure()) return;
      }
}

TEST_P(PooledGradient, ZerosDoNotMeetInfinity) {
  const Geometry g{"few channels", {1, 3, 6, 6}, {5, 3, 3, 3}};
  Operands o = make_operands(g, Density::all, true);
  o.dy = to_channels_last(Tensor::from(std::vector<float>(size_t(g.y().numel())), g.y()));
  o.w = Tensor::from(std::vector<float>(size_t(g.w.numel()), kInfinity), g.w);
  o.x = to_channels_last(Tensor::from(std::vector<float>(size_t(g.x.numel()), kNaN), g.x));
  settings().variants["conv2d_max_pool2d_weight_gradient"] = "listed";
  for (double value :
       conv2d_max_pool2d_weight_gradient(o.x, o.dy, o.choice, weight_options(g)).dw.to_doubles())
    ASSERT_EQ(value, 0);
  for (double value :
       conv2d_max_pool2d_input_gradient(o.dy, o.choice, o.w, {g.options, {6, 6}, true}).to_doubles())
    ASSERT_EQ(value, 0);
}

TEST_P(PooledGradient, DoesNotDependOnTheNumberOfThreads) {
  for (const char* variant : {"listed", ""})
    for (const Geometry& g : kGeometries) {
      SCOPED_TRACE(std::string(g.label) + " " + variant);
      settings().variants.clear();
      if (*variant) settings().variants["conv2d_max_pool2d_weight_gradient"] = variant;
      const Operands o = make_operands(g, Density::some, true);
      std::vector<std::vector<float>> dw, db, dx;
      for (int threads : {1, 2, 5}) {
        set_num_threads(threads);
        auto gradient = conv2d_max_pool2d_weight_gradient(o.x, o.dy, o.choice, weight_options(g));
        dw.push_back(gradient.dw.to_vector<float>()), db.push_back(gradient.db.to_vector<float>());
        dx.push_back(
            conv2d_max_pool2d_input_gradient(o.dy, o.choice, o.w, {g.options, {g.x[2], g.x[3]}, true})
                .to_vector<float>());
        ASSERT_EQ(dw.back(), dw.front());
        ASSERT_EQ(db.back(), db.front());
        ASSERT_EQ(dx.back(), dx.front());
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, PooledGradient, testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return std::string(hwy::TargetName(info.param)); });

}  // namespace
}  // namespace treadle::pooled_gradient
