/// FloatingPointScope: what it sets, that it gives everything back, and that other threads follow.
#include "treadle/core/floating_point.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "tests/core/floating_point_environment.h"
#include "treadle/core/parallel_for.h"

namespace treadle {
namespace {

/// A product below the smallest normal number.
float subnormal_product() {
  volatile float a = 0x1p-70f, b = 0x1p-60f;
  return a * b;
}

/// A subnormal number, read.
float doubled_subnormal() {
  volatile float a = 0x1p-126f - 0x1p-130f;
  return a + a;
}

class FloatingPoint : public testing::Test {
 protected:
  void SetUp() override { std::fegetenv(&before_); }
  void TearDown() override { std::fesetenv(&before_); }
  std::fenv_t before_;
};

#if defined(__x86_64__) || defined(__aarch64__)
TEST_F(FloatingPoint, FlushesResultsAndOperands) {
  EXPECT_NE(subnormal_product(), 0);
  FloatingPointScope flushing(Subnormals::flush);
  EXPECT_EQ(subnormal_product(), 0);
  EXPECT_EQ(doubled_subnormal(), 0);
  FloatingPointScope keeping(Subnormals::keep);
  EXPECT_NE(subnormal_product(), 0);
  EXPECT_NE(doubled_subnormal(), 0);
}

TEST_F(FloatingPoint, ThreadsOfParallelForFollowTheCaller) {
  const int threads = num_threads();
  set_num_threads(4);
  auto zeros = [] {
    std::atomic<int> count{0};
    parallel_for(4, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // so that others take parts too
        count += subnormal_product() == 0;
      }
    });
    return count.load();
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(zeros(), 0);
    FloatingPointScope flushing(Subnormals::flush);
    EXPECT_EQ(zeros(), 4);
  }
  set_num_threads(4);  // threads that are started inside a scope do not keep its state
  {
    FloatingPointScope flushing(Subnormals::flush);
    EXPECT_EQ(zeros(), 4);
  }
  EXPECT_EQ(zeros(), 0);
  set_num_threads(threads);
}
#endif

TEST_F(FloatingPoint, IsGivenBackToTheBit) {
  for (int rounding : {FE_TONEAREST, FE_UPWARD, FE_TOWARDZERO}) {
    std::fesetround(rounding);
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(FE_INEXACT);
    const auto before = floating_point_environment();
    for (Subnormals subnormals : {Subnormals::keep, Subnormals::flush}) {
      FloatingPointScope scope(subnormals);
      volatile float zero = 0, third = 1.f / 3;
      volatile float infinity = third / zero, nan = zero / zero, tiny = third * 1e-30f * 1e-15f;
      static_cast<void>(infinity), static_cast<void>(nan), static_cast<void>(tiny);
    }
    EXPECT_EQ(floating_point_environment(), before);
  }
}

TEST_F(FloatingPoint, IsGivenBackWhenAnExceptionLeaves) {
  const auto before = floating_point_environment();
  EXPECT_THROW(
      {
        FloatingPointScope scope(Subnormals::flush);
        throw std::runtime_error("on the way");
      },
      std::runtime_error);
  EXPECT_EQ(floating_point_environment(), before);
}

#if defined(__GLIBC__)
TEST_F(FloatingPoint, NothingTrapsInside) {
  std::feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW);
  const auto before = floating_point_environment();
  {
    FloatingPointScope scope(Subnormals::flush);
    volatile float zero = 0, one = 1;
    volatile float infinity = one / zero, nan = zero / zero;
    static_cast<void>(infinity), static_cast<void>(nan);
    EXPECT_EQ(subnormal_product(), 0);
  }
  EXPECT_EQ(floating_point_environment(), before);
}
#endif

}  // namespace
}  // namespace treadle
