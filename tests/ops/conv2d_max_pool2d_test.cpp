/// What conv2d_max_pool2d refuses, the layouts it gives, and what it chooses where several places are right.
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d.h"
#include "tests/ops/noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

using Options = Conv2dMaxPool2dOptions;

Options with_pool(Pair kernel, Pair stride = 0, Pads padding = 0) {
  Options options;
  options.pool_kernel = kernel, options.pool_stride = stride, options.pool_padding = padding;
  return options;
}

std::string block_message(const Tensor& x, const Tensor& w, const Tensor& b = {},
                          const Options& options = {}) {
  try {
    conv2d_max_pool2d(x, w, b, options);
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "";
}

TEST(Conv2dMaxPool2d, RefusesWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({2, 3, 8, 8}), w = Tensor::zeros({5, 3, 3, 3});
  const std::string message = block_message(x, Tensor::zeros({5, 4, 3, 3}));
  EXPECT_NE(message.find("[2, 3, 8, 8]"), std::string::npos) << message;
  EXPECT_NE(message.find("[5, 4, 3, 3]"), std::string::npos) << message;
  EXPECT_NE(block_message(x, w, Tensor::zeros({4})), "");
  EXPECT_NE(block_message(x, w, {}, with_pool(7)), "");
  EXPECT_NE(block_message(x, w, {}, with_pool(2, 2, 2)), "");
  EXPECT_NE(block_message(x, w, {}, with_pool(0)), "");
  EXPECT_THROW(conv2d_max_pool2d(x, Tensor::zeros({5, 3, 3, 3}, DType::f64)), DTypeError);
}

TEST(Conv2dMaxPool2d, WindowsHoldAtMost254Places) {
  const Tensor x = Tensor::zeros({1, 1, 16, 16}), w = Tensor::zeros({1, 1, 1, 1});
  EXPECT_EQ(block_message(x, w, {}, with_pool({16, 15})), "");
  EXPECT_NE(block_message(x, w, {}, with_pool(16)).find("254"), std::string::npos);
}

TEST(Conv2dMaxPool2d, GradientsRefuseWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({2, 3, 8, 8}), w = Tensor::zeros({5, 3, 3, 3}),
               dy = Tensor::zeros({2, 5, 3, 3}), choice = Tensor::zeros({2, 5, 3, 3}, DType::u8);
  EXPECT_NO_THROW(conv2d_max_pool2d_input_gradient(dy, choice, w, {Options(), {8, 8}, false}));
  EXPECT_THROW(conv2d_max_pool2d_input_gradient(dy, choice, w, {Options(), {10, 8}, false}), ShapeError);
  EXPECT_THROW(conv2d_max_pool2d_input_gradient(dy, dy, w, {Options(), {8, 8}, false}), DTypeError);
  EXPECT_NO_THROW(conv2d_max_pool2d_weight_gradient(x, dy, choice, {Options(), {3, 3}}));
  EXPECT_THROW(conv2d_max_pool2d_weight_gradient(x, dy, choice, {Options(), {5, 3}}), ShapeError);
}

TEST(Conv2dMaxPool2d, LayoutFollowsXUnlessRowMajorIsAskedFor) {
  const Shape shape{2, 4, 8, 9};
  const Tensor w = Tensor::zeros({3, 4, 3, 3});
  const Tensor x = Tensor::empty_strided(shape, channels_last_strides(shape), DType::f32, kCpu);
  const auto result = conv2d_max_pool2d(x, w);
  EXPECT_EQ(result.y.shape(), (Shape{2, 3, 3, 3}));
  EXPECT_EQ(result.y.strides(), channels_last_strides(result.y.shape()));
  EXPECT_EQ(result.choice.strides(), channels_last_strides(result.y.shape()));
  Options options;
  options.row_major = true;
  EXPECT_TRUE(conv2d_max_pool2d(x, w, {}, options).y.is_contiguous());
  EXPECT_TRUE(conv2d_max_pool2d(x, w, {}, options).choice.is_contiguous());
  EXPECT_TRUE(conv2d_max_pool2d(Tensor::zeros(shape), w).y.is_contiguous());
}

/// Names a variant while it lives.
struct ChosenVariant {
  explicit ChosenVariant(const char* name) { settings().variants["conv2d_max_pool2d"] = name; }
  ~ChosenVariant() { settings().variants.clear(); }
};

class Conv2dMaxPool2dVariant : public testing::TestWithParam<const char*> {};

/// Five channels, so that every variant takes it; the result at each place is x there.
Conv2dMaxPool2dResult pooled(const std::vector<float>& pixels, const Options& options) {
  Tensor x = Tensor::zeros({1, 5, 4, 4}), w = Tensor::zeros({1, 5, 3, 3});
  for (int64_t i = 0; i < 4; ++i) x.data<float>()[(i / 2 + 1) * 4 + i % 2 + 1] = pixels[size_t(i)];
  w.data<float>()[4] = 1;
  return conv2d_max_pool2d(x, w, {}, options);
}

TEST_P(Conv2dMaxPool2dVariant, TakesTheFirstOfEqualPlaces) {
  const ChosenVariant variant(GetParam());
  EXPECT_EQ(pooled({1, 1, 1, 1}, {}).choice.to_doubles()[0], 0);
  EXPECT_EQ(pooled({0, 2, 2, 1}, {}).choice.to_doubles()[0], 1);
  EXPECT_EQ(pooled({0, 1, 2, 2}, {}).choice.to_doubles()[0], 2);
  EXPECT_EQ(pooled({0, 1, 2, 3}, {}).choice.to_doubles()[0], 3);
}

TEST_P(Conv2dMaxPool2dVariant, ChoosesNothingWhereReluIsClosed) {
  const ChosenVariant variant(GetParam());
  Options open;
  open.relu = false;
  for (const std::vector<float>& pixels : {std::vector<float>{0, 0, 0, 0}, {-1, -2, -3, -4}}) {
    EXPECT_EQ(pooled(pixels, {}).choice.to_doubles()[0], kNoChoice);
    EXPECT_EQ(pooled(pixels, {}).y.to_doubles()[0], 0);
    EXPECT_EQ(pooled(pixels, open).choice.to_doubles()[0], 0);
    EXPECT_EQ(pooled(pixels, open).y.to_doubles()[0], pixels[0]);
  }
}

TEST_P(Conv2dMaxPool2dVariant, NanPropagates) {
  const ChosenVariant variant(GetParam());
  for (size_t place = 0; place < 4; ++place) {
    std::vector<float> pixels{4, 5, 6, 7};
    pixels[place] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(pooled(pixels, {}).y.to_doubles()[0])) << place;
    EXPECT_EQ(pooled(pixels, {}).choice.to_doubles()[0], kNoChoice) << place;
  }
}

/// Of all variants, also of those that round equal places differently.
class Conv2dMaxPool2dBits : public testing::TestWithParam<const char*> {};

TEST_P(Conv2dMaxPool2dBits, ThreadsDoNotChangeTheBits) {
  const ChosenVariant variant(GetParam());
  const int before = num_threads();
  for (int64_t images : {1, 7}) {
    const Tensor x = noise({images, 33, 18, 17}), w = noise({70, 33, 3, 3}), b = noise({70});
    set_num_threads(1);
    const auto expected = conv2d_max_pool2d(x, w, b);
    for (int threads : {2, 3, 5, 16}) {
      set_num_threads(threads);
      const auto result = conv2d_max_pool2d(x, w, b);
      EXPECT_TRUE(same_bits(result.y, expected.y)) << threads << " threads";
      EXPECT_TRUE(same_bits(result.choice, expected.choice)) << threads << " threads";
    }
  }
  set_num_threads(before);
}

TEST_P(Conv2dMaxPool2dBits, WithoutChoiceGivesTheSameBits) {
  const ChosenVariant variant(GetParam());
  const Tensor w = noise({37, 9, 3, 3}), b = noise({37});
  Tensor x = noise({2, 9, 9, 11});
  x.data<float>()[5] = std::numeric_limits<float>::quiet_NaN();
  for (bool relu : {true, false})
    for (const Tensor& images : {x, to_channels_last(x)}) {
      Options with, without;
      with.relu = without.relu = relu, without.choice = false;
      const auto result = conv2d_max_pool2d(images, w, b, without);
      EXPECT_TRUE(same_bits(result.y, conv2d_max_pool2d(images, w, b, with).y));
      EXPECT_FALSE(result.choice.defined());
    }
}

/// Of variants that compute a result from the pixels under it alone.
class Conv2dMaxPool2dDirectSums : public testing::TestWithParam<const char*> {};

Tensor whole_numbers(const Shape& shape, uint32_t state) {
  Tensor tensor = noise(shape, state);
  for (int64_t i = 0; i < shape.numel(); ++i)
    tensor.data<float>()[i] = std::round(2 * tensor.data<float>()[i]);
  return tensor;
}

/// Sums of whole numbers are exact, so that many are equal; what is not finite lies in one of two images.
TEST_P(Conv2dMaxPool2dDirectSums, ValueAndChoiceAreTheLoops) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Tensor x = whole_numbers({2, 2, 13, 26}, 1);
  const Tensor w = whole_numbers({20, 2, 3, 3}, 2), b = whole_numbers({20}, 3);
  for (int64_t at : {5, 40, 77, 130, 205}) {
    const float values[] = {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity};
    x.data<float>()[at] = values[at % 3], x.data<float>()[at + 3] = values[(at + 1) % 3];
  }
  Options options;
  for (const Tensor& images : {x, to_channels_last(x)})
    for (bool relu : {true, false}) {
      options.relu = relu, options.padding = relu ? 1 : 0;
      const auto with = [&](const char* name) {
        const ChosenVariant variant(name);
        return conv2d_max_pool2d(images, w, b, options);
      };
      const auto expected = with("loop"), result = with(GetParam());
      const std::vector<double> y = result.y.to_doubles(), loop = expected.y.to_doubles();
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_TRUE(y[i] == loop[i] || (std::isnan(y[i]) && std::isnan(loop[i]))) << i;
      EXPECT_EQ(result.choice.to_doubles(), expected.choice.to_doubles()) << "relu " << relu;
    }
}

TEST(Conv2dMaxPool2d, WithoutChoiceHasNoGradient) {
  const Tensor x = Tensor::zeros({1, 3, 6, 6}), w = Tensor::zeros({2, 3, 3, 3}).set_requires_grad();
  Options options;
  options.choice = false;
  const auto result = conv2d_max_pool2d(x, w, {}, options);
  EXPECT_THROW(sum(result.y).backward(), AutogradError);
}

INSTANTIATE_TEST_SUITE_P(Cpu, Conv2dMaxPool2dVariant, testing::Values("loop", "tiled", "rows", "winograd"),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Cpu, Conv2dMaxPool2dBits,
                         testing::Values("loop", "tiled", "rows", "winograd", "winograd_4x4"),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Cpu, Conv2dMaxPool2dDirectSums, testing::Values("tiled", "rows"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace treadle
