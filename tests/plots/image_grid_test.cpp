/// Grids of images, and the images of a data set.
#include "treadle/plots/image_grid.h"

#include <gtest/gtest.h>

#include "tests/formats/temporary_folder.h"
#include "treadle/core/error.h"
#include "treadle/plots/dataset_images.h"

namespace treadle {
namespace {

using Pixels = std::vector<uint8_t>;

TEST(ImageGrid, LaysImagesRowByRow) {
  const Image images[] = {{1, 1, 1, {1}}, {1, 1, 1, {2}}, {1, 1, 1, {3}}};
  const Image grid = image_grid(images, {.columns = 2, .scale = 1, .gap = 1});
  EXPECT_EQ(grid.width, 3);
  EXPECT_EQ(grid.height, 3);
  EXPECT_EQ(grid.pixels, (Pixels{1, 255, 2, 255, 255, 255, 3, 255, 255}));
}

TEST(ImageGrid, EnlargesPixelsAndMixesGreyWithColour) {
  const Image images[] = {{2, 1, 1, {10, 20}}, {2, 1, 3, {1, 2, 3, 4, 5, 6}}};
  const Image grid = image_grid(images, {.columns = 1, .scale = 2, .gap = 0});
  EXPECT_EQ(grid.channels, 3);
  EXPECT_EQ(grid.width, 4);
  EXPECT_EQ(grid.height, 4);
  EXPECT_EQ(Pixels(grid.pixels.begin(), grid.pixels.begin() + 12),
            (Pixels{10, 10, 10, 10, 10, 10, 20, 20, 20, 20, 20, 20}));
  EXPECT_EQ(Pixels(grid.pixels.end() - 12, grid.pixels.end()), (Pixels{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
}

TEST(ImageGrid, RefusesWhatCannotBeLaid) {
  const Image images[] = {{1, 1, 1, {1}}, {2, 1, 1, {1, 2}}};
  expect_error<ValueError>([] { image_grid({}); }, {"no images"});
  expect_error<ValueError>([&] { image_grid(images); }, {"2×1 beside one of 1×1"});
  expect_error<ValueError>([&] { image_grid({images, 1}, {.columns = 0}); }, {"columns 0"});
}

TEST(DatasetImages, AreInterleaved) {
  const ImageDataset data{"two", {"a"}, {3, 1, 2}, {9, 9, 9, 9, 9, 9, 1, 2, 3, 4, 5, 6}, {0, 0}};
  const int64_t second[] = {1}, beyond[] = {2};
  EXPECT_EQ(images_of(data, second)[0].pixels, (Pixels{1, 3, 5, 2, 4, 6}));
  expect_error<ValueError>([&] { images_of(data, beyond); }, {"image 2 of 2"});
  const ImageDataset points{"points", {"a"}, {2}, {}, {0}, {1, 2}};
  EXPECT_FALSE(can_be_seen(points));
  expect_error<ValueError>([&] { images_of(points, {}); }, {"points are no images"});
}

}  // namespace
}  // namespace treadle
