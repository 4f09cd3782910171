/// The worst values of every parameter of data/.
#include <cmath>
#include <limits>

#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/data/batches.h"
#include "treadle/data/cifar.h"
#include "treadle/data/dataset.h"
#include "treadle/data/idx.h"
#include "treadle/data/pixel_statistics.h"

namespace treadle {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

ImageDataset two_images() { return {"two", {"a", "b"}, {1, 1, 2}, {1, 2, 3, 4}, {0, 1}}; }

TEST(WorstValues, Samplers) {
  auto restored = [](BatchSampler::State state) {
    return [state] { BatchSampler(10, 4, 0).restore(state); };
  };
  expect_refused({
      refused<ValueError>("no images", {"0 images"}, [] { BatchSampler(0, 4, 0); }),
      refused<ValueError>("negative size", {"-1 images"}, [] { BatchSampler(-1, 4, 0); }),
      refused<ValueError>("batch 0", {"batches of 0"}, [] { BatchSampler(10, 0, 0); }),
      refused<ValueError>("batch -4", {"batches of -4"}, [] { BatchSampler(10, -4, 0); }),
      refused<ValueError>("epoch", {"epoch -1"}, restored({-1, 0})),
      refused<ValueError>("position", {"position 3"}, restored({0, 3})),
      refused<ValueError>("beyond", {"position 12"}, restored({0, 12})),
      refused<ValueError>("negative", {"position -4"}, restored({0, -4})),
  });
  BatchSampler great(10, kMost, ~uint64_t(0));
  EXPECT_EQ(great.batches_per_epoch(), 1);
  EXPECT_EQ(great.next().size(), 10u);
  BatchSampler late(10, 4, 0);
  late.restore({kMost - 1, 0});
  EXPECT_EQ(late.next().size(), 4u);
  EXPECT_EQ(SplitMix64(7).below(0), 0u);
}

TEST(WorstValues, Batches) {
  float pixels[8];
  uint8_t bytes[8];
  int64_t labels[4];
  const std::vector<int64_t> zeroth{0};
  auto gather = [&](ImageDataset dataset, std::vector<int64_t> indices,
                    PixelNormalization normalization = {}) {
    return [=, &pixels, &labels] { gather_batch(dataset, indices, pixels, labels, normalization); };
  };
  auto with = [](auto change) {
    ImageDataset dataset = two_images();
    change(dataset);
    return dataset;
  };
  const ImageDataset short_of_pixels = with([](ImageDataset&d) { d.pixels.pop_back(); }),
                     flat = with([](ImageDataset&d) { d.image_shape = {2}; }),
                     shapeless = with([](ImageDataset&d) { d.image_shape = {}; }),
                     negative = with([](ImageDataset&d) {
                       d.image_shape = {-1, -1, 2};
                     }),
                     hollow = with([](ImageDataset&d) {
                       d.image_shape = {1, 0, 2};
                     });
  const ImageDataset two_vectors{"vectors", {"a", "b"}, {2}, {}, {0, 1}, {1, 2, 3, 4}};
  ImageDataset short_of_values = two_vectors, both = two_vectors, no_axis = two_vectors;
  short_of_values.values.pop_back(), both.pixels = {1, 2, 3, 4}, no_axis.image_shape = {0};
  expect_refused({
      refused<ValueError>("rank 0, normalized", {"[]", "[C, H, W]"}, gather(shapeless, {0}, {{0}, {1}})),
      refused<ValueError>("bytes", {"3", "4"}, [&] { gather_batch(short_of_pixels, zeroth, bytes, labels); }),
      refused<ValueError>("rank of bytes", {"[2]"}, [&] { gather_batch(flat, zeroth, bytes, labels); }),
      refused<ValueError>("index", {"image 2", "two"}, gather(two_images(), {0, 2})),
      refused<ValueError>("negative index", {"image -1"}, gather(two_images(), {-1})),
      refused<ValueError>("least index", {"image -9223372036854775808"},
                          gather(two_images(), {std::numeric_limits<int64_t>::min()})),
      refused<ValueError>("pixels", {"3", "4"}, gather(short_of_pixels, {1})),
      refused<ValueError>("rank", {"[2]", "[C, H, W]"}, gather(flat, {0})),
      refused<ValueError>("rank 0", {"[]"}, gather(shapeless, {0})),
      refused<ValueError>("negative extents", {"[-1, -1, 2]"}, gather(negative, {0})),
      refused<ValueError>("no extent", {"[1, 0, 2]"}, gather(hollow, {0})),
      refused<ValueError>("deviation 0", {"deviation 0"}, gather(two_images(), {0}, {{0}, {0}})),
      refused<ValueError>("deviation NaN", {"nan"}, gather(two_images(), {0}, {{0}, {NAN}})),
      refused<ValueError>("deviation infinite", {"inf"}, gather(two_images(), {0}, {{0}, {INFINITY}})),
      refused<ValueError>("mean NaN", {"mean nan"}, gather(two_images(), {0}, {{NAN}, {1}})),
      refused<ValueError>("channels", {"2 means", "1 channels"}, gather(two_images(), {0}, {{0, 0}, {1, 1}})),
      refused<ValueError>("bytes of values", {"[2]", "not images"},
                          [&] { gather_batch(two_vectors, zeroth, bytes, labels); }),
      refused<ValueError>("values", {"2 images of shape [2]", "4 values, not 3"},
                          gather(short_of_values, {0})),
      refused<ValueError>("values and pixels", {"beside the values"}, gather(both, {0})),
      refused<ValueError>("empty vectors", {"[0]"}, gather(no_axis, {0})),
      refused<ValueError>("means", {"2 means", "1 deviations"}, gather(two_images(), {0}, {{0, 0}, {1}})),
      refused<ValueError>("mean alone", {"1 means", "0 deviations"}, gather(two_images(), {0}, {{0}, {}})),
      refused<ValueError>("measured", {"3", "4"}, [&] { measure_normalization(short_of_pixels); }),
      refused<ValueError>("measured rank", {"[2]"}, [&] { measure_normalization(flat); }),
      refused<ValueError>("measured none", {"no images"},
                          [] {
                            measure_normalization({"none", {}, {1, 1, 2}, {}, {}});
                          }),
  });
  gather(two_images(), {})();
}

TEST(WorstValues, Files) {
  const std::span<const std::byte> nothing;
  expect_refused({
      refused<FormatError>("empty IDX", {"IDX data"}, [&] { parse_idx(nothing); }),
      refused<FormatError>("empty CIFAR", {"CIFAR-10 data"}, [&] { parse_cifar10(nothing); }),
      refused<FileError>("no IDX", {"/none/x"}, [] { load_idx("/none/x"); }),
      refused<FileError>("no CIFAR", {"/none/x"}, [] { load_cifar10("/none/x"); }),
      refused<FileError>("no path", {}, [] { load_idx(""); }),
      refused<ValueError>("no name", {"''"}, [] { load_dataset(""); }),
      refused<DatasetAbsent>("no folder", {"no folder /none/x"}, [] { load_dataset("/none/x"); }),
      refused<ValueError>("a file", {"tests/refused.h", "a file"}, [] { load_dataset("tests/refused.h"); }),
  });
}

}  // namespace
}  // namespace treadle
