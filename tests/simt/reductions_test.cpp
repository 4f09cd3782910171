// Reductions over a block, one directly after another, under schedules that let warps run ahead.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tests/simt/kernels.h"
#include "tests/simt/settings.h"

namespace treadle::simt {
namespace {

constexpr int kSeeds = 20;

std::vector<int> values(int count) {
  std::vector<int> x(count);
  for (int i = 0; i < count; ++i) x[i] = i * 37 % 101;
  return x;
}

/// Whether every thread of every block gets its block's sum of values and of squares from `reduce`.
template <class Reduce>
bool reduces_right(int blocks, int threads, Reduce reduce) {
  const auto x = values(blocks * threads);
  std::vector<int> sums(x.size()), squares(x.size());
  reduce(nullptr, x.data(), sums.data(), squares.data(), blocks, threads);
  for (size_t i = 0; i < x.size(); ++i) {
    const auto begin = x.begin() + i / threads * threads, end = begin + threads;
    if (sums[i] != std::accumulate(begin, end, 0) || squares[i] != std::inner_product(begin, end, begin, 0))
      return false;
  }
  return true;
}

TEST(Reductions, MayFollowOneAnotherAtOnce) {
  for (const auto order : {ScheduleOrder::forward, ScheduleOrder::reverse}) {
    const ScopedSettings settings(2, {order, 0});
    EXPECT_TRUE(reduces_right(3, 128, reduce_twice));
  }
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const ScopedSettings settings(2, {ScheduleOrder::random, seed});
    EXPECT_TRUE(reduces_right(3, 128, reduce_twice)) << "seed " << seed;
  }
}

// A warp that is ahead by one reduction shows where a barrier before reuse is missing. What a seed shows is
// fixed.
TEST(Reductions, MissingBarrierBeforeReuseShowsUnderRandomSchedules) {
  for (const bool tree : {false, true})
    for (const int threads : {64, 256}) {
      const auto reduce = [&](stream_t stream, const int* x, int* sums, int* squares, int blocks, int block) {
        reduce_twice_unprotected(stream, x, sums, squares, blocks, block, tree);
      };
      int shown = 0;
      for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        const ScopedSettings settings(1, {ScheduleOrder::random, seed});
        shown += !reduces_right(1, threads, reduce);
      }

      EXPECT_GE(shown, 16) << (tree ? "tree" : "shuffles") << ", " << threads << " threads";
    }
}

}  // namespace
}  // namespace treadle::simt
