// A thread that waits without a call is interrupted, and others run; what never ends is ended.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/simt/kernels.h"
#include "tests/simt/settings.h"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__)) && !defined(__SANITIZE_THREAD__)

namespace treadle::simt {
namespace {

class Spins : public testing::TestWithParam<Schedule> {
 protected:
  ScopedSettings settings_{1, GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Orders, Spins,
                         testing::Values(Schedule{}, Schedule{ScheduleOrder::reverse, 0},
                                         Schedule{ScheduleOrder::random, 1}));

TEST_P(Spins, VolatileFlagBetweenWarps) {
  int out = 0;
  wait_for_volatile_flag(nullptr, &out);
  EXPECT_EQ(out, 7);
}

TEST_P(Spins, BlocksMeetByAVolatileCounter) {
  const unsigned blocks = 8;
  unsigned arrived = 0;
  std::vector<unsigned> seen(blocks);
  meet_by_volatile(nullptr, &arrived, seen.data(), blocks);
  EXPECT_EQ(seen, std::vector<unsigned>(blocks, blocks));
}

TEST_P(Spins, BlocksOfAPlainLoopWaitForLaterOnes) {
  std::vector<int> flags(8);
  wait_for_volatile_in_plain_loop(nullptr, flags.data(), 8);
  EXPECT_EQ(flags, std::vector<int>(8, 1));
}

// Threads that are interrupted and compute on lose nothing.
TEST_P(Spins, LongComputationsAreLeftAlone) {
  const int steps = 5'000'000;
  std::vector<double> x{1, 2, 3, 4};
  auto expected = x;
  compute(nullptr, x.data(), steps);
  for (double& sum : expected)
    for (int i = 0; i < steps; ++i) sum = sum * 0.999999 + 1e-3;
  EXPECT_EQ(x, expected);
}

std::string message_of(const std::function<void()>& launch) {
  try {
    launch();
  } catch (const SimtError& error) {
    return error.what();
  }
  return "no error";
}

void expect_part(const std::string& message, const char* part) {
  EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;
}

TEST_P(Spins, WhatNeverEndsIsEnded) {
  const double before = limit();
  const uint64_t patience_before = patience();
  set_limit(0.05);
  set_patience(~uint64_t{0});
  const std::string loop = message_of([] { never_end(false); });
  expect_part(loop, "never_end_kernel");
  expect_part(loop, "thread (3, 0, 0) runs");
  const std::string change = message_of([] { hand_over_for_ever(nullptr); });
  expect_part(change, "hand_over_for_ever_kernel");
  expect_part(change, "no block has ended for too long");
  expect_part(message_of([] { never_end(true); }), "spin_for_ever_kernel");
  set_patience(patience_before);
  set_limit(0);
  expect_part(message_of([] { spin_for_ever(nullptr); }), "nothing changes any more");
  set_limit(before);
  int out = 0;
  wait_for_volatile_flag(nullptr, &out);
  EXPECT_EQ(out, 7) << "the executor is unusable";
}

#if defined(__x86_64__)
/// Computes for some time with a stack pointer in the middle of `memory`, as some libraries do.
[[gnu::noinline]] void compute_without_a_stack(char* memory) {
  long rounds = 400'000'000;
  asm volatile(
      "mov %%rsp, %%r12\n\t"
      "mov %[memory], %%rsp\n\t"
      "1: dec %[rounds]\n\t"
      "jnz 1b\n\t"
      "mov %%r12, %%rsp"
      : [rounds] "+r"(rounds)
      : [memory] "r"(memory)
      : "r12", "cc", "memory");
}

// The timer of a grid that has ended goes off 10 ms later, wherever the thread is by then.
TEST(Spins, NoHandlerWritesWhereTheStackPointerIsNone) {
  const ScopedSettings settings{1, Schedule{}};
  const size_t half = 32 * 1024;
  std::vector<char> memory(2 * half, 'x');
  std::vector<double> x{1, 2, 3, 4};
  compute(nullptr, x.data(), 10);
  compute_without_a_stack(memory.data() + half);
  EXPECT_EQ(memory, std::vector<char>(2 * half, 'x'));
}
#endif

TEST(Limit, IsNotNegative) { EXPECT_THROW(set_limit(-1), ValueError); }

}  // namespace
}  // namespace treadle::simt

#endif
