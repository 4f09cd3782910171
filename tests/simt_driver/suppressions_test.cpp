#include "treadle/simt/driver/suppressions.h"

#include <gtest/gtest.h>

#include "treadle/core/error.h"
#include "treadle/simt/driver/process.h"

namespace treadle::simt::driver {
namespace {

std::vector<Suppression> read(const std::string& text) {
  const TemporaryFolder folder;
  write_file(folder / "s", text);
  return read_suppressions(folder / "s");
}

Report report(const std::string& kind, const std::string& kernel, const std::string& file, unsigned line) {
  Report report;
  report.kind = kind;
  report.kernel = kernel;
  report.place = {.file = file, .line = line, .function = ""};
  return report;
}

bool fits(const std::string& line, const Report& report) {
  return read(line + "  # known").at(0).fits(report);
}

TEST(SuppressionsTest, KindKernelFileAndLineMustFit) {
  const Report race = report("race", "reduce<float, 256>", "src/a.cu", 12);
  EXPECT_TRUE(fits("race reduce<float, 256> src/a.cu:12", race));
  EXPECT_TRUE(fits("race reduce* a.cu:12", race));
  EXPECT_TRUE(fits("* *<*>* a.cu:*", race));
  EXPECT_FALSE(fits("leak reduce* a.cu:12", race));
  EXPECT_FALSE(fits("race scan* a.cu:12", race));
  EXPECT_FALSE(fits("race reduce a.cu:12", race));
  EXPECT_FALSE(fits("race reduce* a.cu:13", race));
  EXPECT_FALSE(fits("race reduce* .cu:12", race));
  EXPECT_FALSE(fits("race reduce* b/a.cu:12", race));
}

TEST(SuppressionsTest, TheSecondPlaceFitsToo) {
  Report race = report("race", "k", "a.cu", 12);
  race.other = {.file = "a.cu", .line = 20, .function = ""};
  EXPECT_TRUE(fits("race k a.cu:20", race));
  EXPECT_FALSE(fits("race k a.cu:21", race));
}

TEST(SuppressionsTest, WhatFitsGoesAndIsCounted) {
  auto suppressions = read("# of the library\n\nrace k a.cu:1  # benign\nrace k a.cu:2 # unused\n");
  std::vector<Report> reports{report("race", "k", "a.cu", 1), report("race", "k", "a.cu", 3),
                              report("race", "k", "a.cu", 1)};
  suppress(reports, suppressions);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].place.line, 3u);
  EXPECT_EQ(suppressions[0].used, 2u);
  EXPECT_EQ(suppressions[1].used, 0u);
  EXPECT_EQ(suppressions[1].reason, "unused");
  EXPECT_TRUE(suppressions[1].place.ends_with("/s:4"));
}

TEST(SuppressionsTest, LinesThatSayTooLittleAreRefused) {
  for (const auto& [line, fault] : std::vector<std::pair<std::string, std::string>>{
           {"race k a.cu:1", "s:1: a suppression needs a reason, behind #"},
           {"race k a.cu:1 #  ", "s:1: a suppression needs a reason, behind #"},
           {"race a.cu:1  # x", "s:1: expected KIND KERNEL FILE:LINE  # reason"},
           {"race k a.cu  # x", "s:1: expected KIND KERNEL FILE:LINE  # reason"},
           {"race k :3  # x", "s:1: expected KIND KERNEL FILE:LINE  # reason"},
           {"race k a.cu:x3  # x", "s:1: 'x3' is no line; FILE:LINE or FILE:* is expected"},
           {"race k a.cu:0  # x", "s:1: '0' is no line; FILE:LINE or FILE:* is expected"}}) {
    try {
      read(line);
      ADD_FAILURE() << line;
    } catch (const ValueError& error) {
      EXPECT_TRUE(std::string(error.what()).ends_with("/" + fault)) << error.what();
    }
  }
  EXPECT_THROW(read_suppressions("/nowhere/s"), FileError);
}

}  // namespace
}  // namespace treadle::simt::driver
