/// Learning-rate schedules: the values at their corners, and what they refuse.
#include "treadle/optim/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "treadle/core/error.h"

namespace treadle {
namespace {

/// Powers of two and short sums of them are exact, so are the rates.
TEST(Schedule, OneCycleRisesToItsRateAndFallsToZero) {
  Schedule schedule = Schedule::one_cycle(8, 7, 0.25);
  const double expected[] = {
      4, 8, 8 * 0.625 / 0.75, 8 * 0.5 / 0.75, 8 * 0.375 / 0.75, 8 * 0.25 / 0.75, 8 * 0.125 / 0.75};
  for (int64_t step = 0; step < 7; ++step) EXPECT_DOUBLE_EQ(schedule.at(step), expected[step]) << step;
  EXPECT_EQ(schedule.at(7), 0);
  EXPECT_EQ(schedule.at(1000), 0);
}

TEST(Schedule, LinearIsOneCycleWithoutARise) {
  Schedule schedule = Schedule::linear(8, 7);
  for (int64_t step = 0; step < 9; ++step)
    EXPECT_EQ(schedule.at(step), std::max<int64_t>(7 - step, 0)) << step;
}

/// cos of 0, π/2 and π is 1, 0 and -1 but for the rounding of π.
TEST(Schedule, CosineFallsFromItsRateToZeroAndStaysThere) {
  const Schedule schedule = Schedule::cosine(8, 6);
  const double expected[] = {8, 4 + 4 * 0.8660254037844386, 6, 4, 2, 4 - 4 * 0.8660254037844386, 0, 0, 0};
  for (int64_t step = 0; step < 9; ++step)
    EXPECT_NEAR(schedule.at(step), expected[step], 8 * 0x1p-50) << step;
  EXPECT_NEAR(Schedule::named("cosine", 8, 6).at(3), 4, 8 * 0x1p-50);
  EXPECT_EQ(Schedule::named("linear", 8, 7).at(3), Schedule::linear(8, 7).at(3));
}

TEST(Schedule, EveryStepOfARunHasARateAboveZeroAndAtMostItsPeak) {
  for (double warm_up : {0.0, 0.01, 0.3, 0.99})
    for (int64_t total : {1, 2, 3, 10, 1000}) {
      Schedule schedule = Schedule::one_cycle(0.5, total, warm_up);
      for (int64_t step = 0; step < total; ++step) {
        EXPECT_GT(schedule.at(step), 0) << warm_up << ' ' << total << ' ' << step;
        EXPECT_LE(schedule.at(step), 0.5) << warm_up << ' ' << total << ' ' << step;
      }
    }
}

TEST(Schedule, EveryKnownNameIsFound) {
  for (const std::string& name : known_schedules()) EXPECT_GT(Schedule::named(name, 1, 10).at(1), 0) << name;
  EXPECT_EQ(Schedule::named("one-cycle", 1, 99, 0.5).at(24), 0.5);
  EXPECT_EQ(Schedule::named("constant", 0.125, 10).at(20), 0.125);
  try {
    Schedule::named("step", 1, 10);
    FAIL() << "no exception";
  } catch (const ValueError& error) {
    for (const std::string& name : known_schedules())
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << name;
  }
}

TEST(Schedule, AWarmUpOutsideTheRunIsRefused) {
  for (double warm_up : {-0.1, 1.0, 2.0}) EXPECT_THROW(Schedule::one_cycle(1, 10, warm_up), ValueError);
}

}  // namespace
}  // namespace treadle
