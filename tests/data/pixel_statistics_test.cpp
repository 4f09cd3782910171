/// Mean and deviation of pixels, against values worked out by hand.
#include "treadle/data/pixel_statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace treadle {
namespace {

TEST(PixelStatistics, AreThoseOfEachChannel) {
  // Channel 0 holds 0 and 2, channel 1 holds 10, 10, 10, 10 and 40, 40, 40, 40.
  ImageDataset data{
      "two", {"a"}, {2, 2, 2}, {0, 2, 0, 2, 10, 10, 10, 10, 2, 0, 2, 0, 40, 40, 40, 40}, {0, 0}};
  PixelNormalization measured = measure_normalization(data);
  ASSERT_EQ(measured.mean.size(), 2u);
  EXPECT_FLOAT_EQ(measured.mean[0], 1.0f / 255);
  EXPECT_FLOAT_EQ(measured.deviation[0], 1.0f / 255);
  EXPECT_FLOAT_EQ(measured.mean[1], 25.0f / 255);
  EXPECT_FLOAT_EQ(measured.deviation[1], 15.0f / 255);
}

TEST(PixelStatistics, CountEveryPixel) {
  ImageDataset data{"row", {"a"}, {1, 1, 7}, {1, 2, 4, 8, 16, 32, 64}, {0}};
  EXPECT_EQ(measure_normalization(data).mean[0], float(127 / 7.0 / 255));
}

/// Enough images that several threads count them: image n holds n % 256 in all its pixels.
TEST(PixelStatistics, CountEveryImageOnce) {
  ImageDataset data{"many", {"a"}, {1, 2, 2}, {}, std::vector<int32_t>(1280)};
  for (int n = 0; n < 1280; ++n) data.pixels.insert(data.pixels.end(), 4, uint8_t(n % 256));
  // 1280 is five times 256: every value is as frequent, with mean 127.5 and variance (256² - 1) / 12.
  EXPECT_EQ(measure_normalization(data).mean[0], float(127.5 / 255));
  EXPECT_EQ(measure_normalization(data).deviation[0], float(std::sqrt(65535.0 / 12) / 255));
}

TEST(PixelStatistics, EqualPixelsAreNotDividedByZero) {
  ImageDataset data{"flat", {"a"}, {1, 1, 3}, {7, 7, 7}, {0}};
  EXPECT_FLOAT_EQ(measure_normalization(data).mean[0], 7.0f / 255);
  EXPECT_EQ(measure_normalization(data).deviation[0], 1.0f);
}

TEST(PixelStatistics, NoImagesAreAnError) {
  EXPECT_THROW(measure_normalization({"none", {}, {1, 2, 2}, {}, {}}), ValueError);
}

}  // namespace
}  // namespace treadle
