// Block barriers, static and dynamic shared memory, built-in variables.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "tests/simt/kernels.h"
#include "tests/simt/settings.h"

namespace treadle::simt {
namespace {

std::vector<float> wave(int n, float step) {
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i) x[i] = std::sin(step * static_cast<float>(i));
  return x;
}

TEST(Barriers, TiledProductEqualsTripleLoop) {
  const int n = 64;
  const auto a = wave(n * n, 0.37f), b = wave(n * n, 0.91f);
  std::vector<float> c(n * n, NAN);
  matmul_tiled(nullptr, a.data(), b.data(), c.data(), n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += double{a[i * n + k]} * double{b[k * n + j]};
      // n roundings of partial sums that are at most n: half an ulp of n each.
      ASSERT_NEAR(c[i * n + j], sum, 2 * n * n * std::ldexp(1.0, -24)) << i << " " << j;
    }
}

TEST(Barriers, TreeSums) {
  std::vector<float> ones(1000, 1.f);
  float sum = 0;
  block_sum_static(nullptr, ones.data(), &sum, 1000);
  EXPECT_EQ(sum, 1000.f);
  std::vector<double> halves(64, 0.5);
  double double_sum = 0;
  block_sum_dynamic(nullptr, halves.data(), &double_sum, 63);
  EXPECT_EQ(double_sum, 31.5);
}

TEST(Barriers, CountAndOr) {
  const int n = 96;
  std::vector<int> x(n, 0), count(n), all(n), any(n);
  for (int ones : {0, 1, n}) {
    std::fill(x.begin(), x.end(), 0);
    std::fill(x.begin(), x.begin() + ones, 5);
    voting_barriers(nullptr, x.data(), count.data(), all.data(), any.data(), n);
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(count[i], ones);
      EXPECT_EQ(all[i] != 0, ones == n);
      EXPECT_EQ(any[i] != 0, ones > 0);
    }
  }
}

// A thread that has returned is not waited for, whether it returns before the others arrive or after.
TEST(Barriers, ThreadsThatReturnedAreNotWaitedFor) {
  for (const auto order : {ScheduleOrder::forward, ScheduleOrder::reverse, ScheduleOrder::random})
    for (int leaving : {1, 31, 32, 63}) {
      const ScopedSettings settings(1, {order, 5});
      std::vector<int> out(64, -1);
      barrier_after_exit(nullptr, out.data(), 64, leaving);
      for (int i = 0; i < leaving; ++i) EXPECT_EQ(out[i], -1);
      for (int i = leaving; i < 64; ++i) EXPECT_EQ(out[i], i + 1 < 64 ? i + 1 : leaving);
    }
}

TEST(Barriers, BackgroundCopyArrives) {
  alignas(16) float x[128], y[128] = {};
  std::iota(x, x + 128, 0.f);
  staged_copy(nullptr, x, y);
  for (int i = 0; i < 128; ++i) EXPECT_EQ(y[i], x[127 - i]);
}

TEST(Barriers, EveryThreadRunsOnceWithItsCoordinates) {
  for (const dim3 block : {dim3(1), dim3(33), dim3(5, 4, 3), dim3(1, 1, 64), dim3(32, 32)})
    for (const dim3 grid : {dim3(1), dim3(3, 2, 2), dim3(40)})
      for (const auto order : {ScheduleOrder::forward, ScheduleOrder::reverse, ScheduleOrder::random}) {
        const ScopedSettings settings(2, {order, 11});
        std::vector<unsigned> seen(size_t{block.x} * block.y * block.z * grid.x * grid.y * grid.z);
        thread_coordinates(nullptr, grid, block, seen.data());
        for (unsigned count : seen) ASSERT_EQ(count, 1u);
      }
}

}  // namespace
}  // namespace treadle::simt
