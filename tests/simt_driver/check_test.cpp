#include "treadle/simt/driver/check.h"

#include <gtest/gtest.h>

namespace treadle::simt::driver {
namespace {

Report report(const std::string& kind, unsigned line, unsigned other_line, uint64_t bytes = 4) {
  Report report;
  report.kind = kind;
  report.place = {.file = "a.cu", .line = line, .function = ""};
  if (other_line > 0) report.other = {.file = "a.cu", .line = other_line, .function = ""};
  report.bytes = bytes;
  return report;
}

TEST(GroupedTest, ReportsAtTheSameLinesAreOne) {
  const auto reports =
      grouped({report("race", 7, 3), report("race", 3, 7), report("race", 7, 3), report("race", 7, 4)});
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].count, 3u);
  EXPECT_EQ(reports[0].place.line, 7u);
  EXPECT_EQ(reports[1].count, 1u);
}

TEST(GroupedTest, KindsAndKernelsAndAllocationsAreApart) {
  Report kernel = report("race", 7, 3), allocation = kernel;
  kernel.kernel = "k";
  allocation.allocation = "x";
  EXPECT_EQ(grouped({report("race", 7, 3), report("leak", 7, 3), kernel, allocation}).size(), 4u);
}

TEST(GroupedTest, TheyComeInOrderOfLines) {
  const auto reports = grouped({report("race", 7, 3), report("leak", 2, 0), report("race", 5, 3)});
  EXPECT_EQ(reports[0].place.line, 2u);
  EXPECT_EQ(reports[1].place.line, 5u);
  EXPECT_EQ(reports[2].place.line, 7u);
}

TEST(GroupedTest, AnIndexIsNoReportBesideItsAccess) {
  Report index = report("out-of-bounds", 7, 0, 0);
  const Report access = report("out-of-bounds", 7, 0, 4);
  index.allocation = "'float [64]'";
  const auto reports = grouped({index, access});
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].bytes, 4u);
  EXPECT_EQ(grouped({index}).size(), 1u);
  EXPECT_EQ(grouped({index, report("out-of-bounds", 8, 0, 4)}).size(), 2u);
}

}  // namespace
}  // namespace treadle::simt::driver
