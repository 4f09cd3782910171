/// What conv2d refuses, with both shapes in the message, and the layouts it gives.
#include "treadle/ops/conv2d/conv2d.h"

#include <gtest/gtest.h>

#include "treadle/core/error.h"

namespace treadle {
namespace {

std::string conv2d_message(const Tensor& x, const Tensor& w, const Tensor& b = {},
                           const Conv2dOptions& options = {}) {
  try {
    conv2d(x, w, b, options);
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "";
}

TEST(Conv2d, NamesBothShapes) {
  Tensor x = Tensor::zeros({2, 3, 8, 8});
  const std::string message = conv2d_message(x, Tensor::zeros({5, 4, 3, 3}));
  EXPECT_NE(message.find("[2, 3, 8, 8]"), std::string::npos) << message;
  EXPECT_NE(message.find("[5, 4, 3, 3]"), std::string::npos) << message;
}

TEST(Conv2d, RefusesWhatDoesNotFit) {
  Tensor x = Tensor::zeros({2, 4, 8, 8}), w = Tensor::zeros({6, 4, 3, 3});
  EXPECT_NE(conv2d_message(Tensor::zeros({4, 8, 8}), w), "");
  EXPECT_NE(conv2d_message(x, Tensor::zeros({6, 4, 9, 3})), "");
  EXPECT_NE(conv2d_message(x, w, Tensor::zeros({5})), "");
  EXPECT_NE(conv2d_message(x, w, {}, {.groups = 2}), "");
  EXPECT_NE(conv2d_message(x, Tensor::zeros({5, 2, 3, 3}), {}, {.groups = 2}), "");
  EXPECT_NE(conv2d_message(x, w, {}, {.stride = 0}), "");
  EXPECT_NE(conv2d_message(x, w, {}, {.dilation = {0, 1}}), "");
  EXPECT_NE(conv2d_message(x, w, {}, {.padding = {-1, 0, 0, 0}}), "");
  EXPECT_THROW(conv2d(x, Tensor::zeros({6, 4, 3, 3}, DType::f64)), DTypeError);
}

TEST(Conv2d, KeepsTheLayoutOfX) {
  const Shape shape{2, 4, 6, 5};
  Tensor w = Tensor::zeros({3, 4, 3, 3});
  Tensor x = Tensor::empty_strided(shape, channels_last_strides(shape), DType::f32, kCpu);
  Tensor y = conv2d(x, w);
  EXPECT_EQ(y.strides(), channels_last_strides(y.shape()));
  EXPECT_TRUE(conv2d(Tensor::zeros(shape), w).is_contiguous());
}

TEST(Conv2d, GradientTakesTheLayoutOfX) {
  const Shape shape{2, 4, 6, 5};
  Tensor w = Tensor::zeros({3, 4, 3, 3});
  for (bool channels_last : {false, true}) {
    const Strides strides = channels_last ? channels_last_strides(shape) : contiguous_strides(shape);
    Tensor x = Tensor::empty_strided(shape, strides, DType::f32, kCpu).set_requires_grad();
    Tensor y = conv2d(x, w);
    y.backward(Tensor::zeros(y.shape()));
    EXPECT_EQ(x.grad().strides(), strides);
  }
}

}  // namespace
}  // namespace treadle
