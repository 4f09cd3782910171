// Reductions over a block, one directly after another, under schedules that let warps run ahead.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tests/simt/kernels.h"
#include "tests/simt/settings.h"

namespace treadle::simt {
namespace {

constexpr int kBlocks = 3, kThreads = 128;

/// Whether every thread of every block got its block's sum of values and of squares.
bool reduces_right(const std::vector<int>& x) {
  std::vector<int> sums(x.size()), squares(x.size());
  reduce_twice(nullptr, x.data(), sums.data(), squares.data(), kBlocks, kThreads);
  for (size_t i = 0; i < x.size(); ++i) {
    const auto begin = x.begin() + i / kThreads * kThreads, end = begin + kThreads;
    if (sums[i] != std::accumulate(begin, end, 0) || squares[i] != std::inner_product(begin, end, begin, 0))
      return false;
  }
  return true;
}

// A warp that is ahead by one reduction shows where a barrier before reuse is missing. Each block of each
// seed lets its warps run ahead at a given barrier with a chance of one half: 20 seeds of 3 blocks would all
// miss it with 2^-60.
TEST(Reductions, MayFollowOneAnotherAtOnce) {
  std::vector<int> x(kBlocks * kThreads);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>(i * 37 % 101);
  for (const auto order : {ScheduleOrder::forward, ScheduleOrder::reverse}) {
    const ScopedSettings settings(2, {order, 0});
    EXPECT_TRUE(reduces_right(x));
  }
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const ScopedSettings settings(2, {ScheduleOrder::random, seed});
    EXPECT_TRUE(reduces_right(x)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace treadle::simt
