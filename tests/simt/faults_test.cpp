// What the executor says about kernels that cannot go on, and that it works afterwards.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/simt/kernels.h"
#include "tests/simt/settings.h"

namespace treadle::simt {
namespace {

/// The message of the SimtError that `launch` throws; a correct kernel must then run.
std::string message_of(void (*launch)(stream_t)) {
  std::string message = "no error";
  try {
    launch(nullptr);
  } catch (const SimtError& error) {
    message = error.what();
  }
  std::vector<float> ones(256, 1.f);
  float sum = 0;
  block_sum_static(nullptr, ones.data(), &sum, 256);
  EXPECT_EQ(sum, 256.f) << "the executor is unusable after: " << message;
  return message;
}

void expect_parts(const std::string& message, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;
}

TEST(Faults, DivergentBarrierNamesBothPlaces) {
  const ScopedSettings settings(1);
  expect_parts(message_of(divergent_barrier),
               {"divergent_barrier_kernel", "block (0, 0, 0)", "divergent barrier", "thread (0, 0, 0)",
                "thread (16, 0, 0)", "faults.cu:9", "faults.cu:11"});
}

TEST(Faults, HalfAWarpAtAShuffle) {
  expect_parts(
      message_of(half_a_warp_shuffles),
      {"half_a_warp_shuffles_kernel", "deadlock", "16 thread(s) at warp collective", "faults.cu:15",
       "0xffffffff", "thread 0-15", "16 thread(s) at block barrier", "faults.cu:16", "thread 16-31"});
}

TEST(Faults, MaskThatDoesNotNameItsCaller) {
  expect_parts(message_of(mask_without_caller),
               {"bad mask", "0xfffffffe", "lane 0", "thread (0, 0, 0)", "faults.cu:19"});
}

TEST(Faults, BarrierAgainstCollective) {
  expect_parts(message_of(barrier_against_shuffle), {"deadlock", "thread 3)", "thread 0-2, 4-63"});
}

TEST(Faults, TrapEndsTheGridAndNotTheProcess) {
  const ScopedSettings settings(1);
  expect_parts(message_of(trap_between_barriers),
               {"trap_between_barriers_kernel", "block (0, 0, 0)", "__trap()", "thread (40, 0, 0)"});
  expect_parts(message_of(trap_in_independent),
               {"trap_in_independent_kernel", "block (0, 0, 0)", "__trap()", "thread (3, 0, 0)"});
}

/// The signal that tells the other block comes at any moment, in the middle of a switch, too.
TEST(Faults, ABlockThatSwitchesIsEndedByAnothersFailure) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "no signals tell blocks under ThreadSanitizer";
#endif
  const ScopedSettings settings(2);
  for (int trial = 0; trial < 20; ++trial) {
    std::string message = "no error";
    try {
      trap_beside_barriers(nullptr, 60 + 21 * trial);
    } catch (const SimtError& error) {
      message = error.what();
    }
    expect_parts(message, {"trap_beside_barriers_kernel", "block (1, 0, 0)", "__trap()"});
  }
}

TEST(Faults, EveryScheduleAndWorkerCountFindsThem) {
  for (unsigned worker_count : {1u, 3u})
    for (const auto order : {ScheduleOrder::forward, ScheduleOrder::reverse, ScheduleOrder::random}) {
      const ScopedSettings settings(worker_count, {order, 3});
      for (const auto launch : {divergent_barrier, half_a_warp_shuffles, mask_without_caller,
                                barrier_against_shuffle, trap_between_barriers, trap_in_independent})
        EXPECT_NE(message_of(launch), "no error");
    }
}

}  // namespace
}  // namespace treadle::simt
