/// Convolution layers with every option, and transposed ones: that parameters and options reach the ops.
#include <cmath>

#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/nn/conv2d.h"
#include "treadle/nn/conv_transpose2d.h"
#include "treadle/ops/layout/concat.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

void expect_close(const Tensor& value, const Tensor& expected) {
  ASSERT_EQ(value.shape(), expected.shape());
  const auto a = value.to_vector<float>(), b = expected.to_vector<float>();
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5) << "element " << i;
}

/// Group by group: each is a convolution of its own channels.
template <class Function>
Tensor by_groups(const Tensor& x, const Tensor& weight, int64_t groups, Function convolve) {
  std::vector<Tensor> results;
  for (int64_t group = 0; group < groups; ++group) {
    auto part = [&](const Tensor& t, int axis) {
      const int64_t extent = t.size(axis) / groups;
      return slice(t, axis, group * extent, (group + 1) * extent);
    };
    results.push_back(convolve(part(x, 1), part(weight, 0)));
  }
  return concat(results, 1);
}

/// A filter with zeros between its taps.
Tensor spread(const Tensor& weight, Pair dilation) {
  const int64_t R = weight.size(2), S = weight.size(3);
  std::vector<float> values;
  const auto taps = weight.to_vector<float>();
  const Shape shape{weight.size(0), weight.size(1), dilation.height * (R - 1) + 1,
                    dilation.width * (S - 1) + 1};
  for (int64_t filter = 0; filter < shape[0] * shape[1]; ++filter)
    for (int64_t r = 0; r < shape[2]; ++r)
      for (int64_t s = 0; s < shape[3]; ++s) {
        const bool tap = r % dilation.height == 0 && s % dilation.width == 0;
        values.push_back(tap ? taps[size_t((filter * R + r / dilation.height) * S + s / dilation.width)] : 0);
      }
  return Tensor::from(values, shape);
}

TEST(Convolution, AllOptionsTogether) {
  const Conv2dOptions options{.stride = {2, 1}, .padding = {1, 2, 0, 3}, .dilation = {2, 3}, .groups = 3},
      without{.stride = options.stride, .padding = options.padding};
  Conv2d layer(6, 9, {3, 2}, options, false);
  EXPECT_EQ(layer.weight.shape(), (Shape{9, 2, 3, 2}));
  EXPECT_EQ(layer.describe(),
            "Conv2d(6, 9, 3×2, stride 2×1, padding 1 2 0 3, dilation 2×3, groups 3, no bias)");
  const Tensor x = rand({2, 6, 8, 7});
  for (bool channels_last : {false, true}) {
    const Tensor laid = channels_last ? permute(permute(x, {0, 2, 3, 1}), {0, 3, 1, 2}) : x;
    expect_close(layer(laid), by_groups(x, layer.weight, 3, [&](const Tensor& part, const Tensor& w) {
                   return conv2d(part, spread(w, options.dilation), {}, without);
                 }));
  }
}

TEST(ConvTranspose2d, BeginsAsPyTorchs) {
  ConvTranspose2d layer(8, 6, {3, 2}, {{.groups = 2}});
  const auto state = layer.state_dict();
  ASSERT_EQ(state.size(), 2u);
  EXPECT_EQ(state[0].name, "weight");
  EXPECT_EQ(state[0].tensor.shape(), (Shape{8, 3, 3, 2}));
  EXPECT_EQ(state[1].name, "bias");
  EXPECT_EQ(state[1].tensor.shape(), Shape{6});
  const double bound = 1 / std::sqrt(3.0 * 3 * 2), largest = max(abs(layer.weight)).item();
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.9 * bound);
  EXPECT_LE(max(abs(layer.bias)).item(), bound);
  EXPECT_EQ(ConvTranspose2d(1, 1, 2, {}, false).state_dict().size(), 1u);
}

TEST(ConvTranspose2d, AllOptionsTogether) {
  const ConvTranspose2dOptions options{
      {.stride = {2, 3}, .padding = {1, 0, 2, 1}, .dilation = {2, 1}, .groups = 2}, {1, 2}};
  ConvTranspose2dOptions without = options;
  without.groups = 1, without.dilation = 1;
  ConvTranspose2d layer(4, 6, {3, 2}, options);
  EXPECT_EQ(
      layer.describe(),
      "ConvTranspose2d(4, 6, 3×2, stride 2×3, padding 1 0 2 1, dilation 2×1, groups 2, output padding 1×2)");
  const Tensor x = rand({2, 4, 5, 4});
  const Tensor expected = by_groups(x, layer.weight, 2, [&](const Tensor& part, const Tensor& w) {
    return conv_transpose2d(part, spread(w, options.dilation), {}, without);
  });
  expect_close(layer(x), expected + reshape(layer.bias, {6, 1, 1}));
  const Shape in = x.shape(), out = expected.shape();
  EXPECT_EQ(layer.multiply_adds({&in, 1}, {&out, 1}), 2 * 4 * 5 * 4 * 3 * 3 * 2);
}

/// Σ conv2d(y)·x = Σ y·conv_transpose2d(x) for all x and y.
TEST(ConvTranspose2d, IsTheAdjointOfConv2d) {
  const Conv2dOptions options{.stride = 2, .padding = 1};
  const Tensor w = rand({4, 3, 3, 3}), x = rand({2, 4, 5, 5}), y = rand({2, 3, 10, 10});
  const double left = sum(conv2d(y, w, {}, options) * x).item(),
               right = sum(y * conv_transpose2d(x, w, {}, {options, 1})).item();
  EXPECT_NEAR(left, right, 1e-5 * std::fabs(left));
}

TEST(ConvTranspose2d, RefusesWhatDoesNotFit) {
  expect_refused({
      refused<ShapeError>("groups", {"ConvTranspose2d", "3 groups"},
                          [] { ConvTranspose2d(4, 6, 3, {{.groups = 3}}); }),
      refused<ShapeError>("channels", {"0 input"}, [] { ConvTranspose2d(0, 6, 3); }),
      refused<ShapeError>("kernel", {"[3, 0]"},
                          [] {
                            ConvTranspose2d(4, 6, {3, 0});
                          }),
      refused<ShapeError>("output padding", {"output padding [2, 2]"},
                          [] {
                            ConvTranspose2d(1, 1, 3, {{.stride = 2}, 2})(Tensor::zeros({1, 1, 4, 4}));
                          }),
  });
}

}  // namespace
}  // namespace treadle
