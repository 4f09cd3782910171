/// What max_pool2d promises for ties, NaN and windows without a place: cases that have no derivative.
#include "treadle/ops/pool2d/max_pool2d.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "treadle/core/error.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/layout/copy.h"

namespace treadle {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Every variant of both devices.
struct Way {
  Device device;
  const char* variant;
};
const Way kWays[] = {{kCpu, "loop"}, {kCpu, "simd"}, {kSimt, "naive"}};

/// Runs f(device) with each way chosen.
template <class F>
void in_every_way(F f) {
  for (const Way& way : kWays) {
    SCOPED_TRACE(to_string(way.device) + " " + way.variant);
    settings().variants["max_pool2d"] = way.variant;
    f(way.device);
  }
  settings().variants.clear();
}

/// One plane of 2 × 2·windows elements that repeats the window (a b; c d).
Tensor repeated(float a, float b, float c, float d, int64_t windows, Device device) {
  std::vector<float> values;
  for (auto [left, right] : {std::pair{a, b}, std::pair{c, d}})
    for (int64_t i = 0; i < windows; ++i) values.insert(values.end(), {left, right});
  return Tensor::from(values, {1, 1, 2, 2 * windows}, device);
}

/// Expects the maximum of every window at row and column of it.
void expect_maximum_at(const MaxPool2dResult& result, int64_t windows, int64_t row, int64_t column) {
  auto positions = result.positions.to_vector<int32_t>();
  for (int64_t i = 0; i < windows; ++i)
    EXPECT_EQ(positions[i], row * 2 * windows + 2 * i + column) << "window " << i;
}

constexpr int64_t kWindows = 21;  // vectors and a rest, for every width

/// One output a plane lies both row-major and channels-last: the input says which.
TEST(MaxPool2d, WholePlanesChannelsLast) {
  in_every_way([](Device device) {
    Tensor x = to_channels_last(Tensor::from({1, 2, 3, 4, 10, 20, 30, 40}, {1, 2, 2, 2}, device));
    const auto result = max_pool2d_with_positions(x);
    EXPECT_EQ(result.y.to_vector<float>(), (std::vector<float>{4, 40}));
    EXPECT_EQ(result.positions.to_vector<int32_t>(), (std::vector<int32_t>{3, 3}));
  });
}

TEST(MaxPool2d, FirstOfEqualValuesWins) {
  in_every_way([](Device device) {
    expect_maximum_at(max_pool2d_with_positions(repeated(1, 1, 1, 1, kWindows, device)), kWindows, 0, 0);
    expect_maximum_at(max_pool2d_with_positions(repeated(0, 2, 2, 2, kWindows, device)), kWindows, 0, 1);
    expect_maximum_at(max_pool2d_with_positions(repeated(0, 1, 2, 2, kWindows, device)), kWindows, 1, 0);
  });
}

TEST(MaxPool2d, FirstNaNWins) {
  in_every_way([](Device device) {
    auto result = max_pool2d_with_positions(repeated(5, kNaN, 7, kNaN, kWindows, device));
    for (float value : result.y.to_vector<float>()) EXPECT_TRUE(std::isnan(value));
    expect_maximum_at(result, kWindows, 0, 1);
    expect_maximum_at(max_pool2d_with_positions(repeated(kNaN, 1, kInfinity, 3, kWindows, device)), kWindows,
                      0, 0);
  });
}

TEST(MaxPool2d, MinusInfinityIsAValue) {
  in_every_way([](Device device) {
    auto result =
        max_pool2d_with_positions(repeated(-kInfinity, -kInfinity, -kInfinity, -kInfinity, kWindows, device));
    EXPECT_EQ(result.y.to_vector<float>(), std::vector<float>(kWindows, -kInfinity));
    expect_maximum_at(result, kWindows, 0, 0);
  });
}

/// Dilation 2 around a single place: of four windows, each has one tap at most inside.
TEST(MaxPool2d, WindowWithoutPlace) {
  in_every_way([](Device device) {
    Tensor x = Tensor::from({3}, {1, 1, 1, 1}, device);
    auto result = max_pool2d_with_positions(x, {.kernel = 2, .stride = 1, .padding = 2, .dilation = 2});
    EXPECT_EQ(result.y.to_vector<float>(),
              (std::vector<float>{3, -kInfinity, 3, -kInfinity, -kInfinity, -kInfinity, 3, -kInfinity, 3}));
    EXPECT_EQ(result.positions.to_vector<int32_t>(), (std::vector<int32_t>{0, -1, 0, -1, -1, -1, 0, -1, 0}));
  });
}

TEST(MaxPool2d, GradientGoesToTheFirstMaximum) {
  for (Device device : {kCpu, kSimt}) {
    Tensor x = repeated(1, 4, 4, 4, 2, device).set_requires_grad();
    max_pool2d(x).backward(Tensor::from({10, 20}, {1, 1, 1, 2}, device));
    EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{0, 10, 0, 20, 0, 0, 0, 0}));
  }
}

TEST(MaxPool2d, RefusesWhatDoesNotFit) {
  Tensor x = Tensor::zeros({1, 2, 3, 3});
  EXPECT_THROW(max_pool2d(x, {.kernel = 4}), ShapeError);
  EXPECT_THROW(max_pool2d(x, {.kernel = 2, .padding = 2}), ShapeError);
  EXPECT_THROW(max_pool2d(x, {.kernel = 0}), ShapeError);
  EXPECT_THROW(max_pool2d(Tensor::zeros({2, 3, 3})), ShapeError);
}

}  // namespace
}  // namespace treadle
