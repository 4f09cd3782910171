#include "treadle/data/batches.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tests/formats/temporary_folder.h"

namespace treadle {
namespace {

std::vector<int64_t> next_epoch(BatchSampler& sampler) {
  std::vector<int64_t> indices;
  do {
    auto batch = sampler.next();
    indices.insert(indices.end(), batch.begin(), batch.end());
  } while (!sampler.epoch_finished());
  return indices;
}

std::vector<int64_t> sorted(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<int64_t> counting(int64_t size) {
  std::vector<int64_t> values(static_cast<size_t>(size));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(SplitMix, GivesThePublishedSequence) {
  // Outputs for seed 1234567 of the reference program by Vigna (splitmix64.c).
  SplitMix64 random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.next(), 9817491932198370423u);
}

TEST(SplitMix, BoundedNumbersCoverTheirRange) {
  SplitMix64 random(1);
  std::vector<int> count(7);
  for (int i = 0; i < 70'000; ++i) ++count.at(random.below(7));
  // Binomial with mean 10000 and deviation 92.6: six deviations.
  for (int n : count) EXPECT_NEAR(n, 10'000, 556);
  EXPECT_EQ(random.below(1), 0u);
}

TEST(BatchSampler, GivesEveryIndexOncePerEpoch) {
  for (int64_t size : {1, 2, 10, 97, 1000})
    for (int64_t batch_size : {1, 3, 10, 2000}) {
      BatchSampler sampler(size, batch_size, 5);
      for (int epoch = 0; epoch < 3; ++epoch) EXPECT_EQ(sorted(next_epoch(sampler)), counting(size));
    }
}

TEST(BatchSampler, LastBatchMayBeShort) {
  BatchSampler sampler(10, 4, 0);
  EXPECT_EQ(sampler.batches_per_epoch(), 3);
  for (int epoch = 0; epoch < 2; ++epoch) {
    EXPECT_EQ(sampler.next().size(), 4u);
    EXPECT_EQ(sampler.next().size(), 4u);
    EXPECT_FALSE(sampler.epoch_finished());
    EXPECT_EQ(sampler.next().size(), 2u);
    EXPECT_TRUE(sampler.epoch_finished());
    EXPECT_EQ(sampler.state(), (BatchSampler::State{epoch, 10}));
  }
}

TEST(BatchSampler, OrderDependsOnSeedAndEpochOnly) {
  BatchSampler a(100, 7, 1), b(100, 13, 1), c(100, 7, 2);
  auto first = next_epoch(a);
  EXPECT_EQ(first, next_epoch(b));
  EXPECT_NE(first, next_epoch(c));
  EXPECT_NE(first, next_epoch(a));
  EXPECT_NE(first, counting(100));
}

TEST(BatchSampler, OrderIsTheSameEverywhere) {
  BatchSampler sampler(8, 8, 42);
  // Computed by a second program, in Python.
  EXPECT_EQ(next_epoch(sampler), (std::vector<int64_t>{6, 0, 7, 2, 5, 1, 3, 4}));
  EXPECT_EQ(next_epoch(sampler), (std::vector<int64_t>{1, 3, 5, 4, 2, 7, 6, 0}));
}

TEST(BatchSampler, EveryPlaceIsReachedFromEveryPlace) {
  // 6000 shuffles of 5: each index is at each place 1200 times, deviation 31: six deviations.
  int count[5][5] = {};
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    BatchSampler sampler(5, 5, seed);
    auto order = sampler.next();
    for (size_t place = 0; place < 5; ++place) ++count[place][order[place]];
  }
  for (auto& row : count)
    for (int n : row) EXPECT_NEAR(n, 1200, 186);
}

TEST(BatchSampler, RestoredSamplerContinuesAlike) {
  BatchSampler original(23, 5, 9);
  for (int step = 0; step < 13; ++step) {
    BatchSampler restored(23, 5, 9);
    restored.restore(original.state());
    BatchSampler reference(23, 5, 9);
    for (int i = 0; i < step; ++i) reference.next();
    for (int i = 0; i < 8; ++i) {
      auto expected = reference.next(), batch = restored.next();
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), batch.begin(), batch.end()))
          << step << " " << i;
    }
    original.next();
  }
}

/// Within an epoch, over its end, and after batches of other epochs.
TEST(BatchSampler, BatchesThatAreSkippedChangeNoOther) {
  for (int skipped : {1, 3, 5, 6, 11}) {
    BatchSampler sampler(23, 5, 9), reference(23, 5, 9);
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < skipped; ++i) EXPECT_EQ(sampler.skip(), int64_t(reference.next().size()));
      EXPECT_EQ(sampler.state(), reference.state());
      const auto a = sampler.next(), b = reference.next();
      EXPECT_EQ(std::vector(a.begin(), a.end()), std::vector(b.begin(), b.end())) << skipped;
    }
  }
}

TEST(BatchSampler, KeepsTheOrderWhereItDoesNotShuffle) {
  BatchSampler sampler(5, 3, 9, false);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const std::vector<int64_t>& expected : {std::vector<int64_t>{0, 1, 2}, {3, 4}}) {
      const auto batch = sampler.next();
      EXPECT_EQ(std::vector<int64_t>(batch.begin(), batch.end()), expected);
    }
  sampler.restore({3, 3});
  EXPECT_EQ(sampler.next()[0], 3);
}

TEST(BatchSampler, RefusesImpossibleValues) {
  expect_error<ValueError>([] { BatchSampler(0, 4, 0); }, {"4 from 0"});
  expect_error<ValueError>([] { BatchSampler(10, 0, 0); }, {"0 from 10"});
  expect_error<ValueError>([] { BatchSampler(-1, 4, 0); }, {"4 from -1"});
  BatchSampler sampler(10, 4, 0);
  for (BatchSampler::State state : {BatchSampler::State{-1, 0}, {0, -4}, {0, 3}, {0, 11}, {0, 12}})
    expect_error<ValueError>([&] { sampler.restore(state); }, {"no state of a sampler"});
  sampler.restore({3, 8});
  EXPECT_EQ(sampler.next().size(), 2u);
}

/// Three images of two channels of 1 x 2 pixels.
ImageDataset small_dataset() {
  return {"small", {"a", "b", "c"}, {2, 1, 2}, {0, 255, 51, 102, 1, 2, 3, 4, 5, 6, 7, 8}, {2, 0, 1}};
}

TEST(GatherBatch, ScalesToUnitRange) {
  float pixels[8];
  int64_t labels[2];
  gather_batch(small_dataset(), std::vector<int64_t>{2, 0}, pixels, labels);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(pixels[i], float(5 + i) / 255.0f);
  EXPECT_EQ(pixels[4], 0);
  EXPECT_EQ(pixels[5], 1);
  EXPECT_EQ(pixels[6], 51 / 255.0f);
  EXPECT_EQ(labels[0], 1);
  EXPECT_EQ(labels[1], 2);
}

TEST(GatherBatch, NormalizesEachChannel) {
  float pixels[4];
  int64_t label;
  gather_batch(small_dataset(), std::vector<int64_t>{0}, pixels, &label, {{0.5f, 0.25f}, {0.5f, 2.0f}});
  EXPECT_EQ(pixels[0], -1);
  EXPECT_EQ(pixels[1], 1);
  EXPECT_EQ(pixels[2], (51 / 255.0f - 0.25f) / 2);
  EXPECT_EQ(pixels[3], (102 / 255.0f - 0.25f) / 2);
}

/// A product with the reciprocal would differ in the last bit of some: PyTorch divides.
TEST(GatherBatch, DividesEachByteBy255) {
  for (int64_t width : {1, 7, 256}) {  // whole vectors and what is left
    ImageDataset dataset{"bytes", {"a"}, {1, 1, width}, {}, {}};
    std::vector<int64_t> indices;
    for (int64_t value = 0; value < 256 * width; ++value) dataset.pixels.push_back(uint8_t(value));
    for (int64_t i = 0; i < 256; ++i) dataset.labels.push_back(0), indices.push_back(i);
    std::vector<float> pixels(dataset.pixels.size());
    std::vector<int64_t> labels(indices.size());
    gather_batch(dataset, indices, pixels.data(), labels.data());
    for (size_t i = 0; i < pixels.size(); ++i) ASSERT_EQ(pixels[i], float(dataset.pixels[i]) / 255.0f) << i;
  }
}

TEST(GatherBatch, DividesByTheDeviation) {
  const float mean = 0.1307f, deviation = 0.3081f;
  ImageDataset dataset{"bytes", {"a"}, {1, 16, 16}, {}, {0}};
  for (int value = 0; value < 256; ++value) dataset.pixels.push_back(uint8_t(value));
  float pixels[256];
  int64_t label;
  gather_batch(dataset, std::vector<int64_t>{0}, pixels, &label, {{mean}, {deviation}});
  for (int value = 0; value < 256; ++value)
    EXPECT_EQ(pixels[value], (float(value) / 255.0f - mean) / deviation) << value;
}

TEST(GatherBatch, CopiesBytes) {
  uint8_t pixels[4];
  int64_t label;
  gather_batch(small_dataset(), std::vector<int64_t>{1}, pixels, &label);
  EXPECT_EQ(std::vector<uint8_t>(pixels, pixels + 4), (std::vector<uint8_t>{1, 2, 3, 4}));
  EXPECT_EQ(label, 0);
}

TEST(GatherBatch, RefusesWhatDoesNotFit) {
  ImageDataset dataset = small_dataset();
  float pixels[4];
  int64_t label;
  auto gather = [&](int64_t index, PixelNormalization normalization) {
    gather_batch(dataset, std::vector<int64_t>{index}, pixels, &label, normalization);
  };
  expect_error<ValueError>([&] { gather(3, {}); }, {"image 3 of data set small", "has 3"});
  expect_error<ValueError>([&] { gather(-1, {}); }, {"image -1"});
  expect_error<ValueError>([&] { gather(0, {{0.5f}, {0.5f}}); }, {"1 means and 1 deviations", "2 channels"});
  expect_error<ValueError>([&] { gather(0, {{0.5f, 0.5f}, {}}); }, {"2 means and 0 deviations"});
  expect_error<ValueError>([&] { gather(0, {{0.5f, 0.5f}, {1, 0}}); }, {"deviation 0 is not positive"});
  float nan = std::numeric_limits<float>::quiet_NaN();
  expect_error<ValueError>([&] { gather(0, {{0.5f, 0.5f}, {1, nan}}); }, {"not positive"});
}

}  // namespace
}  // namespace treadle
