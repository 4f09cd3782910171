/// Layers that change the size of images: padding, upsampling, channels as places.
#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/nn/padding.h"
#include "treadle/nn/resampling.h"
#include "treadle/ops/layout/pad.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

using Values = std::vector<float>;

Tensor counted(const Shape& shape) {
  Values values;
  for (int64_t i = 1; i <= shape.numel(); ++i) values.push_back(float(i));
  return Tensor::from(values, shape);
}

TEST(Padding, PutsPlacesAround) {
  const Tensor x = counted({1, 1, 2, 3});
  const Tensor constant = ConstantPad2d({1, 0, 0, 2}, 9)(x);
  EXPECT_EQ(constant.shape(), (Shape{1, 1, 3, 5}));
  EXPECT_EQ(constant.to_vector<float>(), (Values{9, 9, 9, 9, 9, 1, 2, 3, 9, 9, 4, 5, 6, 9, 9}));
  EXPECT_EQ(ReflectionPad2d({0, 2, 1, 1})(x).to_vector<float>(),
            (Values{3, 2, 1, 2, 3, 2, 6, 5, 4, 5, 6, 5, 3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(ReplicationPad2d({0, 2, 1, 1})(x).to_vector<float>(),
            (Values{1, 1, 1, 2, 3, 3, 4, 4, 4, 5, 6, 6, 4, 4, 4, 5, 6, 6}));
}

/// Each place gets the gradients of all that repeat it.
TEST(Padding, PassesGradients) {
  auto gradient = [](Module&& layer) {
    const Tensor x = counted({1, 1, 1, 3}).set_requires_grad();
    sum(layer(x)).backward();
    return x.grad().to_vector<float>();
  };
  EXPECT_EQ(gradient(ConstantPad2d(2)), (Values{1, 1, 1}));
  EXPECT_EQ(gradient(ReflectionPad2d({0, 2, 0, 1})), (Values{1, 3, 2}));
  EXPECT_EQ(gradient(ReplicationPad2d({0, 2, 0, 1})), (Values{3, 1, 2}));
}

TEST(Upsample, IsTheOpAtAMultiple) {
  const Tensor x = rand({2, 3, 4, 5});
  EXPECT_EQ(Upsample(2)(x).to_vector<float>(), interpolate2d(x, {{8, 10}, "nearest"}).to_vector<float>());
  EXPECT_EQ(Upsample({3, 2}, "bilinear", true)(x).to_vector<float>(),
            interpolate2d(x, {{12, 10}, "bilinear", true}).to_vector<float>());
}

TEST(PixelShuffle, MakesPlacesOfChannels) {
  const Tensor x = counted({1, 4, 1, 2});
  const Tensor y = PixelShuffle(2)(x);
  EXPECT_EQ(y.shape(), (Shape{1, 1, 2, 4}));
  EXPECT_EQ(y.to_vector<float>(), (Values{1, 3, 2, 4, 5, 7, 6, 8}));
  const Tensor large = rand({2, 18, 3, 5});
  EXPECT_EQ(PixelUnshuffle(3)(PixelShuffle(3)(large)).to_vector<float>(), large.to_vector<float>());
  EXPECT_EQ(PixelShuffle(3)(large).shape(), (Shape{2, 2, 9, 15}));
}

TEST(ImageSize, LayersSayWhatTheyDo) {
  EXPECT_EQ(ConstantPad2d({1, 2, 3, 4}, 0.5).describe(), "ConstantPad2d(1 2 3 4, 0.5)");
  EXPECT_EQ(ReflectionPad2d(1).describe(), "ReflectionPad2d(1 1 1 1)");
  EXPECT_EQ(ReplicationPad2d(1).describe(), "ReplicationPad2d(1 1 1 1)");
  EXPECT_EQ(Upsample({2, 3}, "bilinear", true).describe(), "Upsample(2×3, bilinear, corners aligned)");
  EXPECT_EQ(PixelShuffle(2).describe(), "PixelShuffle(2)");
  EXPECT_EQ(PixelUnshuffle(2).describe(), "PixelUnshuffle(2)");
}

TEST(ImageSize, RefusesWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({1, 3, 2, 5});
  expect_refused({
      refused<ShapeError>("mirrored too far", {"pad_reflect", "axis 2", "[1, 3, 2, 5]"},
                          [&] { ReflectionPad2d(2)(x); }),
      refused<ShapeError>("nothing to repeat", {"pad_replicate", "[0]"},
                          [] { pad_replicate(Tensor::zeros({0}), {1}, {0}); }),
      refused<ShapeError>("negative", {"[0, 0, -1, 0]"},
                          [&] {
                            ReplicationPad2d({-1, 0, 0, 0})(x);
                          }),
      refused<ShapeError>("axes", {"[3]"}, [] { ConstantPad2d(1)(Tensor::zeros({3})); }),
      refused<ValueError>("factor", {"Upsample", "[0, 2]"},
                          [] {
                            Upsample({0, 2});
                          }),
      refused<ShapeError>("three axes", {"Upsample", "[3, 2, 5]"}, [&] { Upsample(2)(squeeze(x, 0)); }),
      refused<ValueError>("mode", {"'cubic'"}, [&] { Upsample(2, "cubic")(x); }),
      refused<ShapeError>("channels", {"pixel_shuffle", "[1, 3, 2, 5]", "2²"}, [&] { PixelShuffle(2)(x); }),
      refused<ShapeError>("factor 0", {"pixel_shuffle"}, [&] { PixelShuffle(0)(x); }),
      refused<ShapeError>("places", {"pixel_unshuffle", "[1, 3, 2, 5]"}, [&] { PixelUnshuffle(2)(x); }),
  });
}

}  // namespace
}  // namespace treadle
