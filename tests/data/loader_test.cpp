/// Batches of a loader: the same for any threads and batch size, from any place of a run, and as
/// gather_batch() gives them where nothing augments.
#include "treadle/data/loader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "treadle/core/affinity.h"
#include "treadle/core/parallel_for.h"
#include "treadle/data/augment/flip.h"

namespace treadle {
namespace {

/// Images of two channels with random bytes.
ImageDataset images(int64_t size) {
  ImageDataset data{"noise", {"a", "b", "c"}, {2, 5, 4}, {}, {}};
  SplitMix64 random(4);
  for (int64_t i = 0; i < size * 40; ++i) data.pixels.push_back(uint8_t(random.below(256)));
  for (int64_t i = 0; i < size; ++i) data.labels.push_back(int32_t(random.below(3)));
  return data;
}

ImageDataset vectors(int64_t size) {
  ImageDataset data{"vectors", {"a", "b"}, {3}, {}, {}, {}};
  for (int64_t i = 0; i < size; ++i) {
    data.labels.push_back(int32_t(i % 2));
    for (int64_t k = 0; k < 3; ++k) data.values.push_back(float(10 * i + k));
  }
  return data;
}

const char* const kAll = "crop:1,flip,rotate:20,jitter,cutout:2,mixup:0.4,cutmix,erase";

using Bits = std::pair<std::vector<float>, std::vector<double>>;

Bits bits_of(const AugmentedBatch& batch) {
  return {batch.examples.to_vector<float>(), batch.targets.to_doubles()};
}

/// Example → values and target in an epoch of batches of so many, by so many threads.
std::map<int64_t, Bits> epoch_of(const ImageDataset& data, const LoaderOptions& options, int64_t batch_size,
                                 int64_t epoch) {
  BatchSampler sampler(data.size(), batch_size, 6);
  sampler.restore({epoch, 0});
  Loader loader(data, sampler, options);
  std::map<int64_t, Bits> all;
  for (int64_t i = 0; i < sampler.batches_per_epoch(); ++i) {
    const auto indices = sampler.next();
    const auto [values, targets] = bits_of(loader.next());
    const size_t size = values.size() / indices.size(), width = targets.size() / indices.size();
    for (size_t k = 0; k < indices.size(); ++k)
      all[indices[k]] = {{values.begin() + int64_t(k * size), values.begin() + int64_t((k + 1) * size)},
                         {targets.begin() + int64_t(k * width), targets.begin() + int64_t((k + 1) * width)}};
  }
  return all;
}

TEST(Loader, ExamplesDependOnSeedEpochAndIndexAlone) {
  const ImageDataset data = images(41);
  LoaderOptions options{.augmentations = Augmentations::parse(kAll), .seed = 3, .threads = 0};
  const auto wanted = epoch_of(data, options, 8, 2);
  ASSERT_EQ(wanted.size(), 41u);
  for (int threads : {1, 3})
    for (int64_t batch_size : {1, 8, 100}) {
      options.threads = threads;
      EXPECT_EQ(epoch_of(data, options, batch_size, 2), wanted)
          << threads << " threads, batches of " << batch_size;
    }
  EXPECT_NE(epoch_of(data, options, 8, 3), wanted);
  options.seed = 4;
  EXPECT_NE(epoch_of(data, options, 8, 2), wanted);
}

TEST(Loader, EachAugmentationHasItsOwnNumbers) {
  const ImageDataset data = images(64);
  const auto once = epoch_of(data, {.augmentations = Augmentations::parse("flip"), .threads = 0}, 64, 0);
  const auto twice =
      epoch_of(data, {.augmentations = Augmentations::parse("flip,flip"), .threads = 0}, 64, 0);
  const auto never = epoch_of(data, {.threads = 0}, 64, 0);
  int flipped_once = 0, flipped_twice = 0;
  for (const auto& [index, bits] : never)
    flipped_once += once.at(index) != bits, flipped_twice += twice.at(index) != bits;
  // Binomial of 64 and a half, of deviation 4: six deviations.
  EXPECT_NEAR(flipped_once, 32, 24);
  EXPECT_NEAR(flipped_twice, 32, 24);
}

TEST(Loader, WithoutAugmentationsGivesWhatGatherBatchGives) {
  const ImageDataset sets[] = {images(10), vectors(10)};
  const PixelNormalization normalizations[][2] = {{{}, {{0.3f, 0.4f}, {0.11f, 0.23f}}},
                                                  {{}, {{1, 2, 3}, {0.3f, 0.7f, 11}}}};
  for (int set = 0; set < 2; ++set)
    for (const PixelNormalization& normalization : normalizations[set]) {
      const ImageDataset& data = sets[set];
      BatchSampler sampler(10, 4, 1);
      Loader loader(data, sampler, {.normalization = normalization});
      for (int i = 0; i < 7; ++i) {
        const auto indices = sampler.next();
        std::vector<float> values(indices.size() * size_t(data.image_shape.numel()));
        std::vector<int64_t> labels(indices.size());
        gather_batch(data, indices, values.data(), labels.data(), normalization);
        const AugmentedBatch batch = loader.next();
        EXPECT_EQ(batch.examples.to_vector<float>(), values);
        EXPECT_EQ(batch.targets.to_vector<int64_t>(), labels);
      }
    }
}

/// Vectors of every length that is copied in another way, and more of them than a cache holds.
TEST(Loader, GathersExamplesOfAnySize) {
  for (int64_t size : {1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 300}) {
    const int64_t count = size == 300 ? 700 : 40;
    ImageDataset data{"vectors", {"a"}, {size}, {}, std::vector<int32_t>(size_t(count), 0), {}};
    for (int64_t i = 0; i < count * size; ++i) data.values.push_back(float(i));
    const std::vector<float> mean(size_t(size), 2.0f);
    std::vector<float> deviation;
    for (int64_t i = 0; i < size; ++i) deviation.push_back(float(i + 3));
    for (bool normalize : {false, true}) {
      const auto normalization = normalize ? PixelNormalization{mean, deviation} : PixelNormalization{};
      BatchSampler sampler(count, 37, 1);
      Loader loader(data, sampler, {.normalization = normalization});
      const auto indices = sampler.next();
      const auto values = loader.next().examples.to_vector<float>();
      for (size_t i = 0; i < values.size(); ++i) {
        const float value = float(indices[i / size_t(size)] * size + int64_t(i) % size);
        ASSERT_EQ(values[i], normalize ? (value - 2) / deviation[i % size_t(size)] : value) << size;
      }
    }
  }
}

TEST(Loader, WritesABatchAgainOnceItWasDropped) {
  const ImageDataset data = images(40);
  Loader loader(data, BatchSampler(40, 8, 1), {.threads = 0});
  AugmentedBatch batch = loader.next();
  const void *examples = batch.examples.raw(), *targets = batch.targets.raw();
  const uint64_t version = batch.examples.handle()->storage->version();
  const Bits first = bits_of(batch);
  batch = {};
  batch = loader.next();
  EXPECT_NE(bits_of(batch), first);
  EXPECT_EQ(batch.examples.raw(), examples);
  EXPECT_EQ(batch.targets.raw(), targets);
  EXPECT_GT(batch.examples.handle()->storage->version(), version);
}

TEST(Loader, LeavesABatchThatSomebodyKeeps) {
  const ImageDataset data = images(40);
  Loader loader(data, BatchSampler(40, 8, 1), {.threads = 0});
  const AugmentedBatch kept = loader.next();
  const Bits bits = bits_of(kept);
  const Tensor alias = loader.next().examples.detach();
  const auto values = alias.to_vector<float>();
  const Tensor labels = loader.next().targets;
  const auto classes = labels.to_vector<int64_t>();
  for (int i = 0; i < 2; ++i) loader.next();
  EXPECT_EQ(bits_of(kept), bits);
  EXPECT_EQ(alias.to_vector<float>(), values);
  EXPECT_EQ(labels.to_vector<int64_t>(), classes);
}

TEST(Loader, GivesNoGradientOfAnEarlierBatch) {
  const ImageDataset data = images(40);
  Loader loader(data, BatchSampler(40, 8, 1), {.threads = 0});
  loader.next().examples.set_requires_grad();
  EXPECT_FALSE(loader.next().examples.requires_grad());
}

TEST(Loader, GivesBatchesOfTheirOwnShapeAndMemory) {
  const ImageDataset data = images(20);
  Loader loader(data, BatchSampler(20, 8, 1), {.threads = 0});
  for (int64_t count : {8, 8, 4, 8, 8, 4}) EXPECT_EQ(loader.next().examples.shape(), (Shape{count, 2, 5, 4}));
}

TEST(Loader, NormalizesBehindAugmentations) {
  const ImageDataset data = images(10);
  const PixelNormalization normalization{{0.3f, 0.4f}, {0.11f, 0.23f}};
  const Augmentations flip(FlipAugmentation{1});
  Loader plain(data, BatchSampler(10, 10, 1), {.augmentations = flip, .threads = 0});
  Loader normalized(data, BatchSampler(10, 10, 1),
                    {.augmentations = flip, .normalization = normalization, .threads = 0});
  const auto a = plain.next().examples.to_vector<float>(), b = normalized.next().examples.to_vector<float>();
  for (size_t i = 0; i < a.size(); ++i) {
    const size_t c = i / 20 % 2;
    EXPECT_EQ(b[i], (a[i] - normalization.mean[c]) / normalization.deviation[c]);
  }
}

TEST(Loader, GoesOnFromWhereItStood) {
  const ImageDataset data = images(23);
  const LoaderOptions options{.augmentations = Augmentations::parse(kAll), .threads = 2, .ahead = 3};
  const BatchSampler sampler(23, 4, 6);
  Loader whole(data, sampler, options);
  for (int before : {0, 1, 5, 6, 7, 13}) {
    Loader first(data, sampler, options);
    for (int i = 0; i < before; ++i) first.next();
    BatchSampler rest(23, 4, 6);
    rest.restore(first.state());
    Loader second(data, rest, options);
    Loader again(data, sampler, options);
    for (int i = 0; i < before; ++i) again.next();
    for (int i = 0; i < 8; ++i) EXPECT_EQ(bits_of(second.next()), bits_of(again.next())) << before;
  }
}

/// Threads make many small batches at once, of one epoch or of several.
TEST(Loader, GivesSmallBatchesOneByOne) {
  for (int64_t size : {3, 40, 5000})
    for (const char* text : {"", "mixup:0.4"}) {
      const ImageDataset data = vectors(size);
      const BatchSampler sampler(size, 8, 6);
      auto options = [&](int threads) {
        return LoaderOptions{.augmentations = Augmentations::parse(text), .threads = threads};
      };
      Loader expected(data, sampler, options(0)), one(data, sampler, options(1)),
          three(data, sampler, options(3));
      AugmentedBatch kept;
      Bits kept_bits;
      for (int i = 0; i < 3000; ++i) {
        const Bits bits = bits_of(expected.next());
        ASSERT_EQ(bits_of(one.next()), bits) << i;
        const AugmentedBatch batch = three.next();
        ASSERT_EQ(bits_of(batch), bits) << i;
        ASSERT_EQ(one.state(), expected.state()) << i;
        ASSERT_EQ(three.state(), expected.state()) << i;
        if (i == 700) kept = batch, kept_bits = bits;
      }
      EXPECT_EQ(bits_of(kept), kept_bits);
    }
}

TEST(Loader, MixesValuesAndLabelsAlike) {
  // Vector i is 10·i, 10·i + 1, 10·i + 2, so a mixture says how much of whom is in it.
  const ImageDataset data = vectors(50);
  Loader loader(data, BatchSampler(50, 50, 2),
                {.augmentations = Augmentations::parse("mixup:1"), .threads = 0});
  BatchSampler sampler(50, 50, 2);
  const auto indices = sampler.next();
  const auto [values, targets] = bits_of(loader.next());
  int mixed = 0;
  for (size_t k = 0; k < 50; ++k) {
    const double own = targets[2 * k + size_t(indices[k] % 2)];
    EXPECT_NEAR(targets[2 * k] + targets[2 * k + 1], 1, 1e-6);
    if (own > 1 - 1e-6) continue;  // a partner of its own class, or nearly nothing of it
    ++mixed;
    // (value - own·10·index) / (1 - own) is ten times the partner, of the other class.
    const double partner = (double(values[3 * k]) - own * 10 * double(indices[k])) / (1 - own) / 10;
    EXPECT_NEAR(partner, std::round(partner), 1e-4 / (1 - own));
    EXPECT_TRUE(own >= 0.999 || int64_t(std::round(partner)) % 2 != indices[k] % 2);
    EXPECT_NEAR(values[3 * k + 1] - values[3 * k], 1, 1e-4);
  }
  EXPECT_GT(mixed, 5);
}

TEST(Loader, PartnersAreAugmentedToo) {
  // After a crop of much padding hardly a pixel is left; mixed with whole partners there would be.
  const ImageDataset data = images(60);
  Loader loader(data, BatchSampler(60, 60, 2),
                {.augmentations = Augmentations::parse("cutout:20,mixup:1"), .threads = 0});
  for (float value : loader.next().examples.to_vector<float>()) EXPECT_EQ(value, 0);
}

TEST(Loader, RefusesWhatDoesNotFit) {
  const ImageDataset data = images(6);
  const BatchSampler sampler(6, 2, 0);
  auto load = [&](const ImageDataset& set, const char* text, PixelNormalization normalization = {}) {
    Loader(set, sampler, {.augmentations = Augmentations::parse(text), .normalization = normalization});
  };
  EXPECT_THROW(load(vectors(6), "crop"), ValueError);
  EXPECT_THROW(load(data, "", {{1}, {1}}), ValueError);
  ImageDataset broken = data;
  broken.pixels.pop_back();
  EXPECT_THROW(load(broken, ""), ValueError);
  EXPECT_THROW(Loader(data, sampler, {.ahead = 0}), ValueError);
}

TEST(Loader, ThrowsForLabelsAndIndicesThatAreNone) {
  ImageDataset data = images(6);
  data.labels.assign(6, 3);
  for (int threads : {0, 2}) {
    Loader loader(data, BatchSampler(6, 2, 0),
                  {.augmentations = Augmentations::parse("mixup"), .threads = threads});
    EXPECT_THROW(loader.next(), ValueError);
    Loader beyond(data, BatchSampler(7, 7, 0), {.threads = threads});
    EXPECT_THROW(beyond.next(), ValueError);
  }
}

TEST(Loader, StaysAtTheBatchThatFailed) {
  ImageDataset data = images(400);
  data.labels[0] = 3;
  for (int threads : {0, 2}) {
    Loader loader(data, BatchSampler(400, 2, 0, false),
                  {.augmentations = Augmentations::parse("mixup"), .threads = threads});
    for (int again = 0; again < 3; ++again) EXPECT_THROW(loader.next(), ValueError) << threads;
    EXPECT_EQ(loader.state(), BatchSampler::State{}) << threads;
  }
}

TEST(Loader, HasThreadsWhereBatchesAreWorthThem) {
  const ImageDataset data = images(8);
  const int before = num_threads();
  set_num_threads(2);
  auto threads_of = [&](const char* text, int64_t batch_size, std::optional<int> threads = {}) {
    return Loader(data, BatchSampler(8, batch_size, 0),
                  {.augmentations = Augmentations::parse(text), .threads = threads})
        .threads();
  };
  // 168 bytes each: 64 batches of 24 lie in 256 KiB, of 25 do not.
  EXPECT_EQ(threads_of("", 24), default_loader_threads());
  EXPECT_EQ(threads_of("", 24, 0), 0);
  EXPECT_EQ(threads_of("", 25), 0);
  EXPECT_EQ(threads_of("", 25, 1), 1);
  // 40 values of 7.66 ns each: 326.4 examples take 100 µs.
  EXPECT_EQ(threads_of("rotate:5", 326), 0);
  EXPECT_EQ(threads_of("rotate:5", 327), default_loader_threads());
  EXPECT_EQ(threads_of("rotate:5", 327, 0), 0);
  set_num_threads(before);
}

TEST(Loader, HasNoThreadWhereItWouldTakeTheStepsOne) {
  const int before = num_threads();
  set_num_threads(1);
  EXPECT_EQ(default_loader_threads(), 0);
  set_num_threads(2);
  EXPECT_EQ(default_loader_threads() > 0, thread_limit().threads > 1);
  set_num_threads(before);
}

}  // namespace
}  // namespace treadle
