// What makes progress on a GPU makes progress here, in every order and with any number of workers; what makes
// none ends with a message.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "tests/simt/kernels.h"
#include "tests/simt/settings.h"

namespace treadle::simt {
namespace {

struct Order {
  unsigned workers;
  Schedule schedule;
};

class Progress : public testing::TestWithParam<Order> {
 protected:
  ScopedSettings settings_{GetParam().workers, GetParam().schedule};
};
INSTANTIATE_TEST_SUITE_P(Orders, Progress,
                         testing::Values(Order{1, {}}, Order{3, {}}, Order{1, {ScheduleOrder::reverse, 0}},
                                         Order{1, {ScheduleOrder::random, 1}},
                                         Order{1, {ScheduleOrder::random, 2}},
                                         Order{2, {ScheduleOrder::random, 3}}));

TEST_P(Progress, WarpWaitsForALaterOne) {
  int flag = 0, out = 0;
  wait_for_later_warp(nullptr, &flag, &out);
  EXPECT_EQ(out, 7);
}

TEST_P(Progress, BlocksWaitForLaterOnes) {
  const int blocks = 20;
  std::vector<int> flags(blocks + 1), order(blocks);
  wait_for_later_block(nullptr, flags.data(), order.data(), blocks);
  for (int b = 0; b < blocks; ++b) EXPECT_EQ(order[b], blocks - 1 - b);
}

TEST_P(Progress, BlocksOfAPlainLoopWaitForLaterOnes) {
  std::vector<int> flags(30);
  wait_in_independent(nullptr, flags.data(), 30);
  EXPECT_EQ(flags, std::vector<int>(30, 1));
}

TEST_P(Progress, BarrierBetweenBlocksByHand) {
  const int blocks = 12, n = blocks * 64, rounds = 3;
  std::vector<float> x(n);
  std::iota(x.begin(), x.end(), 0.f);
  unsigned arrived = 0;
  rotate_blocks(nullptr, x.data(), &arrived, rounds, blocks);
  for (int i = 0; i < n; ++i) ASSERT_EQ(x[(i + rounds * 64) % n], static_cast<float>(i));
}

TEST_P(Progress, ScanThatLooksBack) {
  const int blocks = 30, n = blocks * 64;
  std::vector<int> x(n), y(n), words(blocks), expected(n);
  for (int i = 0; i < n; ++i) x[i] = i * 37 % 101;
  std::partial_sum(x.begin(), x.end(), expected.begin());
  look_back_scan(nullptr, x.data(), y.data(), words.data(), blocks);
  EXPECT_EQ(y, expected);
}

TEST_P(Progress, LockThatEveryThreadTakes) {
  int lock = 0, counter = 0;
  lock_by_all_threads(nullptr, &lock, &counter, 10);
  EXPECT_EQ(counter, 10 * 64);
}

TEST_P(Progress, LooksInVainAreNotCutShort) {
  int flag = 0;
  std::vector<int> looks(4);
  look_so_often(nullptr, &flag, looks.data(), 20000);
  EXPECT_EQ(looks, std::vector<int>(4, 20000));
}

TEST_P(Progress, LoopOverManyFlags) {
  int out = 0;
  std::vector<int> flags(300);
  look_at_many(nullptr, flags.data(), 300, &out);
  EXPECT_EQ(out, 300);
}

TEST_P(Progress, WhatNobodyChangesIsADeadlock) {
  const uint64_t before = patience();
  set_patience(20000);
  for (const int blocks : {1, 5}) {
    int flag = 0;
    try {
      wait_for_nobody(nullptr, &flag, blocks);
      ADD_FAILURE() << "no error";
    } catch (const SimtError& error) {
      const std::string message = error.what();
      for (const char* part :
           {"wait_for_nobody_kernel", "block (", "deadlock", "2 thread(s) at poll", "progress.cu:115",
            "(thread 0-1)", "62 thread(s) at block barrier", "progress.cu:117"})
        EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;
      if (blocks > 1 && GetParam().workers == 1) {
        EXPECT_NE(message.find("and 3 more likewise"), std::string::npos) << message;
      }
    }
  }
  set_patience(before);
  int flag = 0, out = 0;
  wait_for_later_warp(nullptr, &flag, &out);
  EXPECT_EQ(out, 7) << "the executor is unusable after a deadlock";
}

}  // namespace
}  // namespace treadle::simt
