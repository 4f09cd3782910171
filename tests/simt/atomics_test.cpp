// Atomics and fences, from one worker and from several.
#include <gtest/gtest.h>

#include <vector>

#include "tests/simt/kernels.h"
#include "tests/simt/settings.h"

namespace treadle::simt {
namespace {

class Atomics : public testing::TestWithParam<unsigned> {
 protected:
  ScopedSettings settings_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Workers, Atomics, testing::Values(1u, 2u, 5u));

TEST_P(Atomics, Histogram) {
  const int n = 50000;
  std::vector<unsigned char> x(n);
  std::vector<unsigned> bins(256, 0), expected(256, 0);
  for (int i = 0; i < n; ++i) ++expected[x[i] = static_cast<unsigned char>(i * 2654435761u >> 24)];
  histogram(nullptr, x.data(), bins.data(), n, 40);
  EXPECT_EQ(bins, expected);
}

template <class T>
float sum_of_ones(int blocks, int threads) {
  alignas(8) T sum(0);
  add_ones(nullptr, &sum, blocks, threads);
  return static_cast<float>(sum);
}

TEST_P(Atomics, AddOnEveryType) {
  EXPECT_EQ(sum_of_ones<int>(100, 128), 12800.f);
  EXPECT_EQ(sum_of_ones<unsigned>(100, 128), 12800.f);
  EXPECT_EQ(sum_of_ones<unsigned long long>(100, 128), 12800.f);
  EXPECT_EQ(sum_of_ones<float>(100, 128), 12800.f);
  EXPECT_EQ(sum_of_ones<double>(100, 128), 12800.f);
  EXPECT_EQ(sum_of_ones<__half>(16, 128), 2048.f);  // the last integer before the spacing is 2
  EXPECT_EQ(sum_of_ones<__nv_bfloat16>(8, 32), 256.f);
}

TEST_P(Atomics, EveryOperation) {
  std::vector<unsigned> words(16, 100);
  std::vector<int> signed_words(3, -5);
  words[3] = 0xffffffffu;
  words[4] = 0;
  atomic_operations(nullptr, words.data(), signed_words.data());
  EXPECT_EQ(words[0], 36u);
  EXPECT_EQ(words[1], 90u);
  EXPECT_EQ(words[2], 153u);
  EXPECT_EQ(words[3], 0u);
  EXPECT_EQ(words[4], 0xffffffffu);
  EXPECT_EQ(words[5], 100u);  // 0 xor 1 … xor 63 is 0
  EXPECT_EQ(words[6], 53u);   // up to 110 in 10 steps, to 0 in one, then 53 more
  EXPECT_EQ(words[7], 36u);
  EXPECT_EQ(words[8], 100u);
  EXPECT_EQ(words[9], 7u);
  EXPECT_EQ(words[10], 100u);
  EXPECT_EQ(words[11], 8u);
  EXPECT_EQ(words[12], 100u);
  EXPECT_EQ(words[13], 100u);
  EXPECT_EQ(signed_words, (std::vector<int>{-69, -63, 3}));
}

TEST_P(Atomics, LastBlockSeesWhatAllWrote) {
  const int blocks = 200;
  std::vector<float> x(blocks * 64, 1.f), partial(blocks);
  for (int round = 0; round < 5; ++round) {
    unsigned finished = 0;
    float sum = 0;
    std::fill(partial.begin(), partial.end(), -1.f);
    last_block_sum(nullptr, x.data(), partial.data(), &finished, &sum, blocks);
    EXPECT_EQ(sum, blocks * 64.f);
    EXPECT_EQ(finished, 0u);
  }
}

TEST_P(Atomics, SpinLock) {
  int lock = 0, counter = 0;
  locked_increments(nullptr, &lock, &counter, 300);
  EXPECT_EQ(counter, 300);
}

}  // namespace
}  // namespace treadle::simt
