// Copies in the background arrive as late as they may; shared memory is NaN before it is written, and guarded
// behind its end.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "tests/simt/kernels.h"
#include "tests/simt/settings.h"

namespace treadle::simt {
namespace {

constexpr Schedule kReverse{ScheduleOrder::reverse, 0};

TEST(SharedMemory, CopiesArriveAtTheWaitForTheirGroup) {
  std::vector<int> x(64), seen(6 * 32);
  std::iota(x.begin(), x.end(), 100);
  for (const Schedule schedule : {Schedule{}, kReverse}) {
    const ScopedSettings settings(1, schedule);
    copy_in_groups(nullptr, x.data(), seen.data());
    for (int t = 0; t < 32; ++t) {
      const std::vector<int> mine(seen.begin() + 6 * t, seen.begin() + 6 * t + 6);
      EXPECT_EQ(mine, (std::vector<int>{-5, -5, 100 + t, -5, 100 + t, 132 + t}));
    }
  }
}

// Either is allowed: a random schedule takes now one, now the other.
TEST(SharedMemory, CopiesMayArriveEarlyUnderRandomSchedules) {
  std::vector<int> x(64, 3), seen(6 * 32);
  int early = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const ScopedSettings settings(1, {ScheduleOrder::random, seed});
    copy_in_groups(nullptr, x.data(), seen.data());
    early += seen[0] == 3;
    EXPECT_EQ(seen[4], 3);
    EXPECT_EQ(seen[5], 3);
  }
  EXPECT_GT(early, 0);
  EXPECT_LT(early, 10);
}

TEST(SharedMemory, ForgottenWaitShowsWhatWasThereBefore) {
  const int x = 9;
  std::vector<int> seen(2);
  copy_without_wait(nullptr, &x, seen.data());
  EXPECT_EQ(seen, (std::vector<int>{-5, 9}));
}

TEST(SharedMemory, MisalignedCopiesAreRefused) {
  alignas(16) float x[4] = {}, y[32];
  try {
    copy_misaligned(nullptr, x, y);
    FAIL() << "no error";
  } catch (const SimtError& error) {
    const std::string message = error.what();
    for (const char* part : {"copy_misaligned_kernel", "thread (0, 0, 0)", "16 bytes", "shared_memory.cu:39"})
      EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;
  }
}

TEST(SharedMemory, IsNanBeforeItIsWritten) {
  const ScopedSettings settings(1, kReverse);
  std::vector<float> seen(32);
  for (int round = 0; round < 2; ++round) {
    read_before_writing(nullptr, seen.data());
    for (float value : seen) EXPECT_TRUE(std::isnan(value));
  }
}

TEST(SharedMemory, WritesBehindItsEndAreSeen) {
  for (const int n : {1, 7, 32, 100}) {
    try {
      write_behind(nullptr, n);
      ADD_FAILURE() << "no error";
    } catch (const SimtError& error) {
      const std::string message = error.what();
      for (const std::string& part :
           {std::string("write_behind_kernel, block (0, 0, 0)"), std::string("write 0 bytes behind"),
            std::to_string(4 * n) + " bytes of dynamic shared memory"})
        EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;
    }
  }
  std::vector<float> seen(32);
  read_before_writing(nullptr, seen.data());
}

}  // namespace
}  // namespace treadle::simt
