/// Pooling layers: windows of any size, those that reach beyond the padding, and images of any size.
#include "treadle/nn/pooling.h"

#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/resample/interpolate2d.h"

namespace treadle {
namespace {

using Values = std::vector<float>;

/// 1, 2, … row by row.
Tensor counted(int64_t height, int64_t width) {
  Values values;
  for (int64_t i = 1; i <= height * width; ++i) values.push_back(float(i));
  return Tensor::from(values, {1, 1, height, width});
}

TEST(Pooling, CeilModeAddsAWindowThatBeginsInside) {
  const Tensor x = counted(4, 5);
  EXPECT_EQ(MaxPool2d({.kernel = 2}, true)(x).to_vector<float>(), (Values{7, 9, 10, 17, 19, 20}));
  EXPECT_EQ(MaxPool2d({.kernel = 2})(x).to_vector<float>(), (Values{7, 9, 17, 19}));
  EXPECT_EQ(AvgPool2d({.kernel = 2}, true)(x).to_vector<float>(), (Values{4, 6, 7.5, 14, 16, 17.5}));
  // No window begins in the padding behind x: 3 windows of 2 at 0, 2, 4 over 1 + 3 + 1 places, not 4.
  const Tensor row = counted(1, 3);
  EXPECT_EQ(MaxPool2d({.kernel = {1, 2}, .stride = 2, .padding = {0, 1, 0, 1}}, true)(row).to_vector<float>(),
            (Values{1, 3}));
}

/// As PyTorch counts: the padding does, what ceil_mode adds does not.
TEST(Pooling, CeilModeCountsNoMoreThanThePadding) {
  const Tensor row = counted(1, 4);
  const AvgPool2dOptions options{.kernel = {1, 3}, .stride = {1, 2}, .padding = {0, 1, 0, 1}};
  EXPECT_EQ(AvgPool2d(options, true)(row).to_vector<float>(), (Values{1, 3, 2}));
  AvgPool2dOptions inside = options;
  inside.count_include_pad = false;
  EXPECT_EQ(AvgPool2d(inside, true)(row).to_vector<float>(), (Values{1.5, 3, 4}));
}

/// Window by window, by slices.
Tensor pooled_by_slices(const Tensor& x, Pair size, bool largest) {
  Tensor y = Tensor::empty({x.size(0), x.size(1), size.height, size.width});
  auto part = [](const Tensor& t, int axis, int64_t i, int64_t count) {
    const int64_t extent = t.size(axis);
    return slice(t, axis, i * extent / count, ((i + 1) * extent + count - 1) / count);
  };
  for (int64_t p = 0; p < size.height; ++p)
    for (int64_t q = 0; q < size.width; ++q) {
      const Tensor window = part(part(x, 2, p, size.height), 3, q, size.width);
      copy_into(slice(slice(y, 2, p, p + 1), 3, q, q + 1),
                largest ? max(window, {2, 3}, true) : mean(window, {2, 3}, true));
    }
  return y;
}

TEST(Pooling, AdaptiveIsWindowByWindow) {
  const Tensor x = rand({2, 3, 7, 6});
  for (const Pair size : {Pair(3, 4), Pair(7, 2), Pair(1), Pair(2, 3), Pair(9, 5), Pair(7, 6)}) {
    SCOPED_TRACE(AdaptiveAvgPool2d(size).describe());
    EXPECT_EQ(AdaptiveMaxPool2d(size)(x).to_vector<float>(),
              pooled_by_slices(x, size, true).to_vector<float>());
    const Values mean = AdaptiveAvgPool2d(size)(x).to_vector<float>(),
                 expected = pooled_by_slices(x, size, false).to_vector<float>();
    ASSERT_EQ(mean.size(), expected.size());
    for (size_t i = 0; i < mean.size(); ++i) EXPECT_NEAR(mean[i], expected[i], 1e-6);
  }
}

/// The largest element of each of the windows 1 2, 2 3 gets a gradient; 3 is in one window only.
TEST(Pooling, AdaptiveMaximumPassesItsGradient) {
  const Tensor x = counted(1, 3).set_requires_grad();
  sum(AdaptiveMaxPool2d({1, 2})(x)).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (Values{0, 1, 1}));
}

TEST(Pooling, GlobalIsTheMeanOfEachChannel) {
  const Tensor x = rand({2, 3, 4, 5});
  const Tensor y = GlobalAvgPool2d()(x);
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
  EXPECT_EQ(y.to_vector<float>(), mean(x, {2, 3}).to_vector<float>());
}

TEST(Pooling, SayWhatTheyAre) {
  EXPECT_EQ(MaxPool2d({.kernel = 3, .stride = 2}, true).describe(), "MaxPool2d(3×3, stride 2×2, ceil_mode)");
  EXPECT_EQ(AvgPool2d(Pair(2, 3)).describe(), "AvgPool2d(2×3, stride 2×3)");
  EXPECT_EQ(AdaptiveMaxPool2d({2, 3}).describe(), "AdaptiveMaxPool2d(2×3)");
  EXPECT_EQ(GlobalAvgPool2d().describe(), "GlobalAvgPool2d");
}

TEST(Pooling, RefusesWhatIsNoImage) {
  const Tensor x = Tensor::zeros({1, 1, 4, 4});
  expect_refused({
      refused<ShapeError>("mean of size 0", {"adaptive_avg_pool2d", "[0, 2]"},
                          [&] {
                            AdaptiveAvgPool2d({0, 2})(x);
                          }),
      refused<ShapeError>("size 0", {"adaptive_max_pool2d", "[0, 2]"},
                          [&] {
                            AdaptiveMaxPool2d({0, 2})(x);
                          }),
      refused<ShapeError>("three axes", {"[1, 4, 4]"}, [&] { AdaptiveMaxPool2d(2)(squeeze(x, 0)); }),
      refused<ShapeError>("global", {"GlobalAvgPool2d", "[1, 4, 4]"},
                          [&] { GlobalAvgPool2d()(squeeze(x, 0)); }),
      refused<ShapeError>("ceil_mode", {"[5, 5]", "[1, 1, 4, 4]"},
                          [&] { MaxPool2d({.kernel = 5}, true)(x); }),
  });
}

}  // namespace
}  // namespace treadle
