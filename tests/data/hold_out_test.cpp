#include "treadle/data/hold_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/formats/temporary_folder.h"
#include "treadle/core/parallel_for.h"
#include "treadle/data/batches.h"
#include "treadle/data/fingerprint.h"

namespace treadle {
namespace {

/// Images of two pixels that hold their number; the label is its last digit.
ImageDataset numbered(int64_t size) {
  ImageDataset data{"numbered", {}, {1, 1, 2}, {}, {}};
  for (int i = 0; i < 10; ++i) data.classes.push_back(std::to_string(i));
  for (int64_t i = 0; i < size; ++i) {
    data.labels.push_back(uint8_t(i % 10));
    data.pixels.push_back(uint8_t(i / 256));
    data.pixels.push_back(uint8_t(i % 256));
  }
  return data;
}

std::vector<int> numbers_of(const ImageDataset& data) {
  std::vector<int> numbers;
  for (int64_t i = 0; i < data.size(); ++i) {
    numbers.push_back(data.pixels[size_t(2 * i)] * 256 + data.pixels[size_t(2 * i + 1)]);
    EXPECT_EQ(data.labels[size_t(i)], numbers.back() % 10);
  }
  return numbers;
}

DatasetSplits held_out(int64_t size, double share, uint64_t seed) {
  DatasetSplits splits{numbered(size), numbered(10), {}};
  hold_out(splits, share, seed);
  return splits;
}

TEST(HoldOut, EveryImageIsInOneOfTheParts) {
  DatasetSplits splits = held_out(1000, 0.1, 7);
  std::vector<int> validation = numbers_of(splits.validation), train = numbers_of(splits.train), all = train;
  EXPECT_EQ(validation.size(), 100u);
  EXPECT_TRUE(std::is_sorted(validation.begin(), validation.end()));
  EXPECT_TRUE(std::is_sorted(train.begin(), train.end()));
  all.insert(all.end(), validation.begin(), validation.end());
  std::sort(all.begin(), all.end());
  std::vector<int> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all, expected);
  EXPECT_EQ(splits.validation.classes, splits.train.classes);
  EXPECT_EQ(splits.test.size(), 10);
}

TEST(HoldOut, TheSeedDecides) {
  auto first = numbers_of(held_out(1000, 0.1, 7).validation);
  EXPECT_EQ(numbers_of(held_out(1000, 0.1, 7).validation), first);
  EXPECT_NE(numbers_of(held_out(1000, 0.1, 8).validation), first);
  std::vector<int> beginning(100);
  std::iota(beginning.begin(), beginning.end(), 0);
  EXPECT_NE(first, beginning);
  std::vector<int> of_an_epoch;
  BatchSampler sampler(1000, 100, 7);
  for (int64_t index : sampler.next()) of_an_epoch.push_back(int(index));
  std::sort(of_an_epoch.begin(), of_an_epoch.end());
  EXPECT_NE(first, of_an_epoch);  // an order of its own
}

TEST(HoldOut, BothPartsNeedAnImage) {
  for (double share : {0.0, 1.0, -0.1, 1.5, std::nan("")})
    expect_error<ValueError>([=] { held_out(10, share, 0); }, {"not within (0, 1)"});
  expect_error<ValueError>([] { held_out(10, 0.01, 0); }, {"leaves 0 for it and 10"});
  expect_error<ValueError>([] { held_out(10, 0.99, 0); }, {"leaves 10 for it and 0"});
  EXPECT_EQ(held_out(2, 0.5, 0).validation.size(), 1);
}

TEST(Fingerprint, TellsContentsAndNothingElse) {
  const DatasetSplits splits{numbered(700'000), numbered(10), {}};  // more than one block
  const std::string text = fingerprint(splits);
  EXPECT_NE(text.find("700000 training and 10 test images of [1, 1, 2] in 10 classes"), std::string::npos)
      << text;
  DatasetSplits other = splits;
  other.train.name = other.test.name = "elsewhere";
  EXPECT_EQ(fingerprint(other), text);
  for (size_t at : {size_t(0), size_t(700'000), size_t(1'399'999)}) {
    DatasetSplits changed = splits;
    changed.train.pixels[at] ^= 1;
    EXPECT_NE(fingerprint(changed), text) << at;
  }
  DatasetSplits exchanged = splits;  // the first eight bytes with the next eight
  std::swap_ranges(exchanged.train.pixels.begin(), exchanged.train.pixels.begin() + 8,
                   exchanged.train.pixels.begin() + 8);
  EXPECT_NE(fingerprint(exchanged), text);
  other.test.labels[9] ^= 1;
  EXPECT_NE(fingerprint(other), text);
}

TEST(Fingerprint, DoesNotDependOnThreads) {
  const DatasetSplits splits{numbered(3'000'000), numbered(10), {}};
  const int before = num_threads();
  set_num_threads(1);
  const std::string one = fingerprint(splits);
  set_num_threads(3);
  EXPECT_EQ(fingerprint(splits), one);
  set_num_threads(before);
}

}  // namespace
}  // namespace treadle
