/// Scratch of steps: from the allocator at first, then at a place in the arena beside what is alive.
#include <gtest/gtest.h>

#include <vector>

#include "treadle/compile/replay_scratch.h"

namespace treadle {
namespace {

/// Two steps, and a buffer of 128 bytes at the arena's beginning that the first one uses.
Program program_with_a_buffer() {
  Program program;
  program.steps.resize(2);
  ProgramBuffer buffer;
  buffer.bytes = 128;
  buffer.first = buffer.last = 0;
  program.buffers = {buffer};
  return program;
}

struct Scratch : testing::Test {
  Program program = program_with_a_buffer();
  ReplayScratch scratch{program, true};
  std::vector<char> arena = std::vector<char>(4096);

  /// Where in the arena the step's scratch lies; -1 when it does not.
  int64_t run(size_t step, size_t bytes) {
    scratch.begin(step, arena.data());
    auto* memory = static_cast<char*>(scratch.workspace().take(bytes));
    memory[0] = memory[bytes - 1] = 1;
    const bool inside = memory >= arena.data() && memory < arena.data() + arena.size();
    const int64_t place = inside ? memory - arena.data() : -1;
    scratch.end(step);
    return place;
  }
};

TEST_F(Scratch, LiesInTheArenaFromTheNextPlanOn) {
  EXPECT_EQ(run(0, 100), -1);
  EXPECT_EQ(run(1, 60), -1);
  EXPECT_TRUE(scratch.grew());
  EXPECT_EQ(scratch.plan(), 256u);  // 128 of the buffer, two cache lines for 100 bytes
  EXPECT_FALSE(scratch.grew());
  EXPECT_EQ(run(0, 100), 128);
  EXPECT_EQ(run(1, 60), 0);  // the buffer is not needed any more
  EXPECT_FALSE(scratch.grew());
}

TEST_F(Scratch, ThatGrowsLiesOutsideUntilItIsPlannedAgain) {
  run(1, 60);
  scratch.plan();
  EXPECT_EQ(run(1, 65), -1);
  EXPECT_TRUE(scratch.grew());
  EXPECT_EQ(scratch.plan(), 128u);
  EXPECT_EQ(run(1, 65), 0);
}

TEST_F(Scratch, OfATrialCountsForNothing) {
  scratch.begin(0, arena.data());
  scratch.workspace().take(1000);
  scratch.end_trial(0);
  EXPECT_FALSE(scratch.grew());
  EXPECT_EQ(scratch.plan(), 0u);
}

}  // namespace
}  // namespace treadle
