/// conv2d_relu against the ops it stands for, variant by variant.
#include "treadle/ops/conv2d/conv2d_relu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "treadle/graph/registry.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/conv2d/conv2d.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle {
namespace {

Tensor wave(const Shape& shape, float step) {
  Tensor x = Tensor::zeros(shape);
  for (int64_t i = 0; i < x.numel(); ++i) x.view().as<float>()[i] = std::sin(step * float(i));
  return x;
}

/// Two sums of 73 terms of at most 1, each with 73 roundings.
constexpr double kTolerance = 2 * 73 * 73 * 0x1p-24;

/// The convolution before ReLU by the variant of the same name, which says where NaN goes: Winograd's spread
/// it over a tile.
Tensor convolved(const Variant& variant, const Tensor& x, const Tensor& w, const Tensor& b,
                 const Conv2dOptions& options) {
  for (const Variant& other : conv2d_op().variants)
    if (other.device == variant.device && other.name == std::string(variant.name))
      settings().variants["conv2d"] = variant.name;
  return conv2d(x, w, b, options);
}

/// Many images, so that a variant that goes a few at a time goes several times.
TEST(Conv2dRelu, EqualsConvolutionThenReluAndKeepsNaN) {
  for (const Variant& variant : op_named("conv2d_relu").variants) {
    if (variant.device != DeviceKind::cpu || !absence_of(variant.engine).empty()) continue;
    if (variant.name == std::string("widened")) continue;  // of half types, by the others for f32
    const std::string name = variant.name;
    const bool depthwise = name == "depthwise", few_windows = name == "streamed",
               channels_last = depthwise || few_windows || name == "panels" || name == "direct";
    const int64_t images = few_windows ? 1 : 70, side = few_windows ? 5 : 20, with_nan = images / 14;
    Tensor x = wave({images, 8, side, side}, 0.7f);
    x.view().as<float>()[with_nan * 8 * side * side] = std::numeric_limits<float>::quiet_NaN();
    if (channels_last) x = to_channels_last(x);
    const int64_t filters = depthwise ? 8 : 9;
    const Tensor w = wave({filters, depthwise ? 1 : 8, 3, 3}, 1.3f), b = wave({filters}, 2);
    const Conv2dOptions options{.groups = depthwise ? 8 : 1};
    settings().variants["conv2d_relu"] = variant.name;
    const auto fused = conv2d_relu(x, w, b, options).to_doubles(),
               plain = relu(convolved(variant, x, w, b, options)).to_doubles();
    settings().variants.clear();
    for (size_t i = 0; i < plain.size(); ++i) {
      ASSERT_EQ(std::isnan(fused[i]), std::isnan(plain[i])) << variant.name << " element " << i;
      if (std::isnan(plain[i])) continue;
      ASSERT_NEAR(fused[i], plain[i], kTolerance) << variant.name << " element " << i;
    }
    EXPECT_TRUE(std::isnan(fused[size_t(with_nan * filters * (side - 2) * (side - 2))])) << variant.name;
  }
}

}  // namespace
}  // namespace treadle
