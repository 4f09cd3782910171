// What would end the process is an error of the grid: with kernel, block and thread; and the executor goes
// on.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/simt/kernels.h"
#include "tests/simt/settings.h"

#if !defined(__SANITIZE_ADDRESS__)  // which sees such faults first, and ends the process

namespace treadle::simt {
namespace {

class Crashes : public testing::TestWithParam<Schedule> {
 protected:
  ScopedSettings settings_{1, GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Orders, Crashes,
                         testing::Values(Schedule{}, Schedule{ScheduleOrder::reverse, 0},
                                         Schedule{ScheduleOrder::random, 4}));

void expect_error(const std::function<void()>& launch, std::initializer_list<const char*> parts) {
  try {
    launch();
    ADD_FAILURE() << "no error";
  } catch (const SimtError& error) {
    const std::string message = error.what();
    for (const char* part : parts)
      EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;
    EXPECT_NE(message.find("thread (37, 0, 0)"), std::string::npos) << message;
  }
  std::vector<float> ones(256, 1.f);
  float sum = 0;
  block_sum_static(nullptr, ones.data(), &sum, 256);
  EXPECT_EQ(sum, 256.f) << "the executor is unusable";
}

TEST_P(Crashes, StoreToNull) {
  expect_error([] { store_to_null(nullptr); },
               {"store_to_null_kernel", "block (", "invalid address 0x8", "simt_test+0x"});
}

TEST_P(Crashes, EndOnlyTheirGrid) {
  for (const bool plain : {false, true}) {
    expect_error([&] { divide_by_zero(plain); }, {"divide_by_zero_kernel", "division of an integer by zero"});
    expect_error([&] { fail_assertion(plain); }, {"fail_assertion_kernel", "crashes.cu:23", "x == 1"});
    expect_error([&] { abort_in_kernel(plain); }, {"abort_kernel", "abort()"});
    expect_error([&] { terminate_in_kernel(plain); }, {"terminate_kernel", "abort()"});
    expect_error([&] { execute_illegal_instruction(plain); },
                 {"illegal_instruction_kernel", "illegal instruction"});
    expect_error([&] { recurse(plain, 100000); }, {"recurse_kernel", "stack overflow", "KB of local memory"});
  }
}

TEST_P(Crashes, StacksHoldWhatCudaAllows) {
  EXPECT_EQ(recurse(true, 500), recurse(false, 500));
  EXPECT_EQ(use_huge_frame(nullptr, 5), 5);
  std::vector<int> x(64);
  use_80_kilobytes(nullptr, x.data(), 3);
  for (int t = 0; t < 64; ++t) {
    int expected = 0;
    for (int i = t; i < 20 * 1024; i += 1024) expected += 3 * i;
    EXPECT_EQ(x[t], expected);
  }
}

// The default action of a fault outside of kernels stays.
TEST(CrashesDeathTest, FaultsOfTheHostStayFaults) {
  float sum = 0, one = 1;
  block_sum_static(nullptr, &one, &sum, 1);
  EXPECT_EXIT(
      {
        volatile int* nowhere = nullptr;
        *nowhere = 1;
      },
      testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(abort(), testing::KilledBySignal(SIGABRT), "");
}

}  // namespace
}  // namespace treadle::simt

#endif
