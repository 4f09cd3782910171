/// Examples that are numbers and not images: batches, parts, statistics and fingerprints of them.
#include <gtest/gtest.h>

#include "treadle/data/batches.h"
#include "treadle/data/fingerprint.h"
#include "treadle/data/hold_out.h"
#include "treadle/data/pixel_statistics.h"

namespace treadle {
namespace {

/// Vectors (10 n, n + 0.5) with the label n modulo 3.
ImageDataset vectors(int64_t size) {
  ImageDataset data{"vectors", {"a", "b", "c"}, {2}, {}, {}, {}};
  for (int64_t n = 0; n < size; ++n) {
    data.labels.push_back(int32_t(n % 3));
    data.values.insert(data.values.end(), {float(10 * n), float(n) + 0.5f});
  }
  return data;
}

TEST(Values, AreGatheredAsTheyAre) {
  const std::vector<int64_t> indices{3, 0};
  std::vector<float> batch(4);
  std::vector<int64_t> labels(2);
  gather_batch(vectors(4), indices, batch.data(), labels.data());
  EXPECT_EQ(batch, (std::vector<float>{30, 3.5, 0, 0.5}));
  EXPECT_EQ(labels, (std::vector<int64_t>{0, 0}));
}

TEST(Values, AreNormalizedByTheirFirstAxis) {
  std::vector<float> batch(2);
  std::vector<int64_t> labels(1);
  gather_batch(vectors(4), std::vector<int64_t>{2}, batch.data(), labels.data(), {{10, 0.5}, {5, 4}});
  EXPECT_EQ(batch, (std::vector<float>{2, 0.5}));
}

TEST(Values, AreMeasuredByTheirFirstAxis) {
  const PixelNormalization found = measure_normalization(vectors(3));
  EXPECT_EQ(found.mean, (std::vector<float>{10, 1.5}));
  EXPECT_FLOAT_EQ(found.deviation[0], 8.1649658f);
  EXPECT_FLOAT_EQ(found.deviation[1], 0.81649658f);
  EXPECT_EQ(measure_normalization(vectors(1)).deviation, (std::vector<float>{1, 1}));
}

TEST(Values, AreHeldOutWithTheirLabels) {
  DatasetSplits splits{vectors(30), vectors(3), {}};
  hold_out(splits, 0.2, 5);
  ASSERT_EQ(splits.validation.size(), 6);
  ASSERT_EQ(splits.train.size(), 24);
  for (const ImageDataset* part : {&splits.train, &splits.validation}) {
    require_whole(*part);
    for (int64_t i = 0; i < part->size(); ++i)
      EXPECT_EQ(part->labels[size_t(i)], int64_t(part->values[size_t(2 * i)] / 10) % 3);
  }
}

TEST(Values, AreTold) {
  DatasetSplits splits{vectors(3), vectors(3), {}};
  const std::string before = fingerprint(splits);
  splits.test.values[5] += 1;
  EXPECT_NE(fingerprint(splits), before);
}

/// More classes than a byte has values.
TEST(Values, LabelsBeyondAByteAreTold) {
  DatasetSplits splits{vectors(3), vectors(3), {}};
  splits.train.classes.resize(300), splits.test.classes.resize(300);
  splits.train.labels[0] = 1;
  const std::string before = fingerprint(splits);
  splits.train.labels[0] = 257;
  EXPECT_NE(fingerprint(splits), before);
}

TEST(Values, ShapeOfABatch) { EXPECT_EQ(batch_shape(5, {3, 4}), (Shape{5, 3, 4})); }

}  // namespace
}  // namespace treadle
