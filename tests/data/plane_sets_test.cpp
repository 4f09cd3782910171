/// The sets of points that are drawn by a seed.
#include <cmath>
#include <set>

#include "tests/formats/temporary_folder.h"
#include "treadle/data/dataset_registry.h"
#include "treadle/data/fingerprint.h"
#include "treadle/data/plane_set.h"

namespace treadle {
namespace {

/// Calls check(x, y, label) for each point.
template <class Check>
void for_each_point(const DatasetSplits& splits, Check check) {
  for (const ImageDataset* part : {&splits.train, &splits.test})
    for (size_t i = 0; i < part->labels.size(); ++i)
      check(double(part->values[2 * i]), double(part->values[2 * i + 1]), part->labels[i]);
}

TEST(PlaneSets, HaveTwoNumbersAndEquallyFrequentClasses) {
  int found = 0;
  for (const DatasetDeclaration& set : dataset_registry().sets()) {
    if (!set.make) continue;
    ++found;
    const DatasetSplits splits = load_dataset(set.name);
    require_whole(splits.train);
    EXPECT_EQ(splits.train.image_shape, (Shape{2}));
    EXPECT_EQ(splits.train.size(), 2000);
    EXPECT_EQ(splits.test.size(), 1000);
    EXPECT_EQ(splits.train.name, set.name);
    EXPECT_EQ(splits.test.classes, set.classes);
    std::vector<int> count(set.classes.size());
    for (int32_t label : splits.train.labels) ++count.at(size_t(label));
    for (int n : count) EXPECT_NEAR(n, 2000.0 / double(count.size()), 1) << set.name;
  }
  EXPECT_EQ(found, 5);
}

TEST(PlaneSets, TheSeedDecides) {
  EXPECT_EQ(fingerprint(load_dataset("moons", {.seed = 3})), fingerprint(load_dataset("moons", {.seed = 3})));
  EXPECT_NE(fingerprint(load_dataset("moons", {.seed = 3})), fingerprint(load_dataset("moons", {.seed = 4})));
  EXPECT_EQ(fingerprint(load_dataset("moons")), fingerprint(load_dataset("moons", {.seed = 0})));
}

TEST(PlaneSets, NoPointIsThereTwice) {
  std::set<std::pair<double, double>> points;
  const DatasetSplits splits = load_dataset("circles");
  for_each_point(splits, [&](double x, double y, int32_t) { points.emplace(x, y); });
  EXPECT_EQ(points.size(), 3000u);
}

TEST(PlaneSets, ALineSeparatesSeparable) {
  for_each_point(load_dataset("separable", {.seed = 7}), [](double x, double y, int32_t label) {
    const double distance = 0.6 * x + 0.8 * y - 0.5;
    EXPECT_GT(label == 0 ? -distance : distance, 0.0999);
  });
}

TEST(PlaneSets, XorIsTheSignOfAProduct) {
  int quadrants[2][2] = {};
  for_each_point(load_dataset("xor", {.seed = 7}), [&](double x, double y, int32_t label) {
    EXPECT_EQ(label, x * y < 0);
    EXPECT_GE(std::min(std::abs(x), std::abs(y)), 0.0999);
    ++quadrants[x > 0][y > 0];
  });
  for (auto& row : quadrants)
    for (int n : row) EXPECT_NEAR(n, 750, 150);
}

/// Noise is never beyond six deviations.
TEST(PlaneSets, CurvesAreWhereTheyShouldBe) {
  for_each_point(load_dataset("circles", {.seed = 1}), [](double x, double y, int32_t label) {
    EXPECT_NEAR(std::hypot(x, y), label == 0 ? 1 : 0.5, 6 * 0.08 * std::sqrt(2));
  });
  for_each_point(load_dataset("moons", {.seed = 1}), [](double x, double y, int32_t label) {
    const double far = label == 0 ? std::hypot(x, y) : std::hypot(x - 1, y - 0.5);
    EXPECT_NEAR(far, 1, 6 * 0.1 * std::sqrt(2));
    EXPECT_GT(label == 0 ? y : 0.5 - y, -0.6);
  });
}

TEST(PlaneSets, SpiralsHaveAsManyArmsAsAskedFor) {
  const DatasetSplits five = load_dataset("spirals:5");
  EXPECT_EQ(five.train.classes, (std::vector<std::string>{"0", "1", "2", "3", "4"}));
  for_each_point(five, [](double x, double y, int32_t label) {
    const double radius = std::hypot(x, y), turns = std::atan2(y, x) / (2 * M_PI);
    if (radius < 0.5) return;  // noise turns points near the middle further
    const double off = turns - 0.75 * radius - label / 5.0;
    EXPECT_NEAR(off - std::round(off), 0, 0.09) << label;
  });
  EXPECT_EQ(lasting_name("spirals:5"), "spirals:5");
  expect_error<ValueError>([] { load_dataset("spirals:11"); }, {"2 to 10", "'11'"});
  expect_error<ValueError>([] { load_dataset("spirals:1"); }, {"2 to 10", "'1'"});
  expect_error<ValueError>([] { load_dataset("spirals:"); }, {"2 to 10", "''"});
  expect_error<ValueError>([] { load_dataset("spirals:3x"); }, {"'3x'"});
  expect_error<ValueError>([] { load_dataset("moons:3"); }, {"moons has 2 classes"});
  expect_error<ValueError>([] { load_dataset("spiral:3"); }, {"'spiral:3'"});
}

TEST(PlaneSets, NumbersOfAPointHaveTheirDistribution) {
  double sum = 0, squares = 0;
  constexpr int kCount = 20'000;
  PointDraw draw(5);
  for (int i = 0; i < kCount; ++i) {
    const double value = draw.normal();
    sum += value, squares += value * value;
    ASSERT_LE(std::abs(value), 6);
  }
  // Six deviations of the mean and of the mean square.
  EXPECT_NEAR(sum / kCount, 0, 6 / std::sqrt(kCount));
  EXPECT_NEAR(squares / kCount, 1, 6 * std::sqrt(2.0 / kCount));
}

}  // namespace
}  // namespace treadle
