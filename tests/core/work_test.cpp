/// Cuts: whatever the number of parts asked for, they cover the range in order and none is empty.
#include "treadle/core/work.h"

#include <gtest/gtest.h>

namespace treadle {
namespace {

constexpr int64_t kCounts[] = {0, 1, 2, 3, 7, 16, 17, 63, 64, 65, 1000};
constexpr int64_t kWanted[] = {1, 2, 3, 7, 17, 64, 1024};
constexpr int64_t kSteps[] = {1, 4, 16, 64};

TEST(Cut, PartsCoverTheRangeAndNoneIsEmpty) {
  for (int64_t count : kCounts)
    for (int64_t wanted : kWanted)
      for (int64_t step : kSteps) {
        const Cut cut(count, wanted, step);
        int64_t next = 0;
        for (int64_t i = 0; i < cut.parts(); ++i) {
          EXPECT_EQ(cut[i].begin, next) << count << " in " << wanted << " at multiples of " << step;
          EXPECT_GT(cut[i].size(), 0) << count << " in " << wanted << " at multiples of " << step;
          EXPECT_EQ(cut[i].begin % step, 0);
          next = cut[i].end;
        }
        EXPECT_EQ(next, count);
      }
}

TEST(Cut, HasAsManyPartsAsThereCanBe) {
  for (int64_t count : kCounts)
    for (int64_t wanted : kWanted)
      for (int64_t step : kSteps)
        EXPECT_EQ(Cut(count, wanted, step).parts(), std::min(wanted, (count + step - 1) / step));
}

TEST(Cut, PartsDifferByOneStepAtMost) {
  for (int64_t count : kCounts)
    for (int64_t wanted : kWanted) {
      const Cut cut(count, wanted);
      for (int64_t i = 0; i < cut.parts(); ++i) {
        EXPECT_GE(cut[i].size(), count / cut.parts());
        EXPECT_LE(cut[i].size(), count / cut.parts() + 1);
      }
    }
}

TEST(Cut, TakesANumberOfPartsBelowOneForOne) {
  EXPECT_EQ(Cut(5, 0).parts(), 1);
  EXPECT_EQ(Cut(5, -3)[0].size(), 5);
}

}  // namespace
}  // namespace treadle
