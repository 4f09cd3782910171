/// Figures by class, with those that scikit-learn gives for the same labels and answers.
#include "treadle/train/classification/class_metrics.h"

#include <gtest/gtest.h>

#include "tests/formats/temporary_folder.h"
#include "treadle/core/error.h"

namespace treadle {
namespace {

TEST(ClassMetricsTest, CountsRowsAndColumns) {
  // 3 of 4 right; 1 of 2 right; the third class is answered once and never a label.
  const ClassMetrics metrics = class_metrics({{3, 1, 0}, {0, 1, 1}, {0, 0, 0}});
  EXPECT_DOUBLE_EQ(metrics.classes[0].precision, 1);
  EXPECT_DOUBLE_EQ(metrics.classes[0].recall, 0.75);
  EXPECT_DOUBLE_EQ(metrics.classes[0].f1, 6.0 / 7);
  EXPECT_DOUBLE_EQ(metrics.classes[1].precision, 0.5);
  EXPECT_DOUBLE_EQ(metrics.classes[1].recall, 0.5);
  EXPECT_DOUBLE_EQ(metrics.classes[2].precision, 0);
  EXPECT_DOUBLE_EQ(metrics.classes[2].f1, 0);
  EXPECT_DOUBLE_EQ(metrics.macro.precision, 0.5);
  EXPECT_DOUBLE_EQ(metrics.macro.recall, 1.25 / 3);
  EXPECT_DOUBLE_EQ(metrics.macro.f1, (6.0 / 7 + 0.5) / 3);
}

TEST(ClassMetricsTest, AClassThatNobodyMetIsInNoMean) {
  const ClassMetrics metrics = class_metrics({{2, 0, 0}, {1, 1, 0}, {0, 0, 0}});
  EXPECT_DOUBLE_EQ(metrics.macro.recall, 0.75);
  EXPECT_EQ(metrics.classes.size(), 3u);
  EXPECT_DOUBLE_EQ(class_metrics({}).macro.f1, 0);
  expect_error<ValueError>([] { class_metrics({{1, 2}, {3}}); }, {"row 1 has 1 of 2 columns"});
}

}  // namespace
}  // namespace treadle
