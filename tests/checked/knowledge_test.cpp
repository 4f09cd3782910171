// What threads know of one another's accesses, and what two of them know together.
#include "treadle/simt/check/runtime/knowledge.h"

#include <gtest/gtest.h>

namespace treadle::checker {
namespace {

SharedKnowledge of_block(uint32_t block, uint32_t epoch, std::vector<ThreadKnowledge> threads = {}) {
  return std::make_shared<Knowledge>(BlockKnowledge{block, epoch, std::move(threads)});
}

Record access(uint16_t thread, uint32_t epoch, uint32_t fences = 0, uint32_t clock = 1) {
  return {.epoch = epoch, .clock = clock, .fences = fences, .thread = thread};
}

TEST(Knowledge, CoversEarlierEpochsOfItsBlockAlone) {
  const SharedKnowledge known = of_block(10, 14);
  EXPECT_TRUE(known->covers(10, access(3, 13)));
  EXPECT_FALSE(known->covers(10, access(3, 14)));
  EXPECT_FALSE(known->covers(9, access(3, 13)));
}

TEST(Knowledge, CoversWhatAThreadDidBeforeItsFence) {
  const SharedKnowledge known = of_block(10, 0, {{3, 2, 0}, {7, 1, 0}});
  EXPECT_TRUE(known->covers(10, access(3, 20, 1)));
  EXPECT_FALSE(known->covers(10, access(3, 20, 2)));  // behind the second fence
  EXPECT_FALSE(known->covers(10, access(4, 20, 0)));
  EXPECT_TRUE(known->covers(10, access(7, 20, 0)));
}

TEST(Knowledge, CoversWhatALaneDidBeforeItsWarpMet) {
  const SharedKnowledge known = of_block(10, 0, {{3, 0, 5}});
  EXPECT_TRUE(known->covers(10, access(3, 20, 9, 5)));
  EXPECT_FALSE(known->covers(10, access(3, 20, 9, 6)));
}

TEST(Knowledge, OfTwoIsTheLargerOfEach) {
  const SharedKnowledge a = of_block(10, 14, {{3, 2, 1}}), b = of_block(10, 12, {{3, 1, 4}, {5, 6, 0}}),
                        c = of_block(20, 22);
  const SharedKnowledge all = Knowledge::merge(Knowledge::merge(a, b), c);
  EXPECT_TRUE(all->covers(10, access(9, 13)));
  EXPECT_TRUE(all->covers(10, access(3, 15, 1, 9)));
  EXPECT_TRUE(all->covers(10, access(3, 15, 9, 4)));
  EXPECT_TRUE(all->covers(10, access(5, 15, 5, 9)));
  EXPECT_FALSE(all->covers(10, access(5, 15, 6, 9)));
  EXPECT_TRUE(all->covers(20, access(0, 21)));
}

/// Threads that tell one another the same again and again share it.
TEST(Knowledge, ThatHoldsTheOtherIsTakenAsItIs) {
  const SharedKnowledge more = of_block(10, 14, {{3, 2, 1}}), less = of_block(10, 13, {{3, 1, 1}});
  EXPECT_EQ(Knowledge::merge(more, less), more);
  EXPECT_EQ(Knowledge::merge(less, more), more);
  EXPECT_EQ(Knowledge::merge(nullptr, more), more);
  EXPECT_EQ(Knowledge::merge(more, nullptr), more);
  EXPECT_EQ(Knowledge::merge(nullptr, nullptr), nullptr);
}

}  // namespace
}  // namespace treadle::checker
