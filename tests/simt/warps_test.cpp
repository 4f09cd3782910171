// Shuffles, votes, matches, reductions and tiles, with whole and partial masks.
#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <vector>

#include "tests/simt/kernels.h"

namespace treadle::simt {
namespace {

std::vector<int> squares() {
  std::vector<int> x(32);
  for (int i = 0; i < 32; ++i) x[i] = i * i;
  return x;
}

TEST(Warps, ShufflesStayWithinTheirWidth) {
  const auto x = squares();
  for (int width : {32, 16, 8, 4}) {
    std::vector<int> index(32), up(32), down(32), exchange(32);
    shuffle_all(nullptr, x.data(), index.data(), up.data(), down.data(), exchange.data(), width);
    for (int i = 0; i < 32; ++i) {
      const int first = i / width * width;
      EXPECT_EQ(index[i], x[first + 3 % width]);
      EXPECT_EQ(up[i], x[i - first >= 2 ? i - 2 : i]);
      EXPECT_EQ(down[i], x[i + 2 < first + width ? i + 2 : i]);
      EXPECT_EQ(exchange[i], x[i ^ 1]);
    }
  }
}

template <class T>
class ShuffledTypes : public testing::Test {};
using WarpTypes = testing::Types<float, double, long long, __half, __nv_bfloat16>;
TYPED_TEST_SUITE(ShuffledTypes, WarpTypes);

TYPED_TEST(ShuffledTypes, MoveUnchanged) {
  std::vector<TypeParam> x(32), y(32);
  for (int i = 0; i < 32; ++i) x[i] = TypeParam(static_cast<float>(i) - 7.5f);
  shuffle_down_one(nullptr, x.data(), y.data());
  for (int i = 0; i < 32; ++i) EXPECT_EQ(float(y[i]), float(x[i < 31 ? i + 1 : 31]));
}

TEST(Warps, PartialMask) {
  const auto x = squares();
  for (unsigned mask : {0x1u, 0x80000000u, 0x00f0f000u, 0xfffffffeu}) {
    std::vector<int> y(32, -1);
    shuffle_partial(nullptr, x.data(), y.data(), mask);
    for (int i = 0; i < 32; ++i) EXPECT_EQ(y[i], mask >> i & 1u ? x[std::countr_zero(mask)] : -1);
  }
}

TEST(Warps, BranchesMeetSeparately) {
  const auto x = squares();
  std::vector<int> y(32), v(32);
  shuffle_divergent(nullptr, x.data(), y.data());
  for (int i = 0; i < 32; ++i) v[i] = i < 16 ? x[i] + x[i ^ 8] : x[i] - x[i ^ 4];
  for (int i = 0; i < 32; ++i) EXPECT_EQ(y[i], v[i] + v[31 - i]);
}

TEST(Warps, Votes) {
  std::vector<int> x(32, 0);
  for (int i = 0; i < 32; i += 3) x[i] = i + 1;
  unsigned pattern = 0;
  for (int i = 0; i < 32; i += 3) pattern |= 1u << i;
  for (unsigned mask : {0xffffffffu, 0x00ff00ffu, 0x00000009u, 0x00000006u}) {
    std::vector<unsigned> ballot(32, 77u);
    std::vector<int> any(32, 77), all(32, 77);
    votes(nullptr, x.data(), ballot.data(), any.data(), all.data(), mask);
    for (int i = 0; i < 32; ++i) {
      const bool in = mask >> i & 1u;
      EXPECT_EQ(ballot[i], in ? pattern & mask : 77u);
      EXPECT_EQ(any[i], in ? (pattern & mask) != 0 : 77);
      EXPECT_EQ(all[i], in ? (pattern & mask) == mask : 77);
    }
  }
}

TEST(Warps, Matches) {
  std::vector<int> x(32), all_equal(32);
  std::vector<unsigned> any(32), all(32);
  for (int i = 0; i < 32; ++i) x[i] = i % 5;
  matches(nullptr, x.data(), any.data(), all.data(), all_equal.data());
  for (int i = 0; i < 32; ++i) {
    unsigned same = 0;
    for (int j = 0; j < 32; ++j) same |= unsigned{j % 5 == i % 5} << j;
    EXPECT_EQ(any[i], same);
    EXPECT_EQ(all[i], 0u);
    EXPECT_EQ(all_equal[i], 0);
  }
  std::fill(x.begin(), x.end(), 9);
  matches(nullptr, x.data(), any.data(), all.data(), all_equal.data());
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(all[i], 0xffffffffu);
    EXPECT_EQ(all_equal[i], 1);
  }
}

TEST(Warps, Reductions) {
  std::vector<unsigned> x(32), results(6 * 32);
  for (unsigned i = 0; i < 32; ++i) x[i] = 0xf0u + i * 2654435761u;
  reductions(nullptr, x.data(), results.data());
  for (int i = 0; i < 32; ++i) {
    const auto begin = x.begin() + (i < 8 ? 0 : 8), end = i < 8 ? x.begin() + 8 : x.end();
    EXPECT_EQ(results[i], std::accumulate(begin, end, 0u));
    EXPECT_EQ(results[32 + i], *std::min_element(begin, end));
    EXPECT_EQ(results[64 + i], *std::max_element(begin, end));
    EXPECT_EQ(results[96 + i], std::accumulate(begin, end, ~0u, std::bit_and<>()));
    EXPECT_EQ(results[128 + i], std::accumulate(begin, end, 0u, std::bit_or<>()));
    EXPECT_EQ(results[160 + i], std::accumulate(begin, end, 0u, std::bit_xor<>()));
  }
}

TEST(Warps, LanesThatReturnedAreNotWaitedFor) {
  for (int leaving : {0, 1, 20, 31}) {
    std::vector<int> y(32, -1);
    collective_after_exit(nullptr, y.data(), leaving);
    for (int i = 0; i < 32; ++i) EXPECT_EQ(y[i], i < leaving ? -1 : 32 - leaving);
  }
}

TEST(Warps, TilesOfEight) {
  std::vector<int> x(64), sums(64);
  std::vector<unsigned> ballots(64);
  for (int i = 0; i < 64; ++i) x[i] = i * i + 1;
  tile_sums(nullptr, x.data(), sums.data(), ballots.data());
  for (int i = 0; i < 64; ++i) {
    const auto first = x.begin() + i / 8 * 8;
    EXPECT_EQ(sums[i], std::accumulate(first, first + 8, 0));
    EXPECT_EQ(ballots[i], 0xaau);
  }
}

}  // namespace
}  // namespace treadle::simt
