#include "treadle/ops/random/random.h"

#include <gtest/gtest.h>

#include <cmath>

#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"
#include "treadle/kernels/philox.h"
#include "treadle/kernels/random_functions.h"
#include "treadle/ops/layout/views.h"

namespace treadle {
namespace {

/// The known answers published with the generator, in the file kat_vectors of Random123.
TEST(Philox, GivesThePublishedAnswers) {
  struct Answer {
    PhiloxBlock counter;
    uint32_t key0, key1;
    PhiloxBlock result;
  };
  const Answer answers[] = {{{{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
                            {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
                             0xffffffff,
                             0xffffffff,
                             {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
                            {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
                             0xa4093822,
                             0x299f31d0,
                             {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}}};
  for (const Answer& answer : answers) {
    PhiloxBlock block = philox4x32(answer.counter, answer.key0, answer.key1);
    for (int lane = 0; lane < 4; ++lane) EXPECT_EQ(block.lanes[lane], answer.result.lanes[lane]);
  }
}

constexpr uint64_t kSeed = 0x299f31d0a4093822, kPosition = 0x85a308d3243f6a88;

/// Seed and position have 64 bits: the lower half of the counter, and the key.
TEST(Philox, BlocksTakeAllBitsOfSeedAndPosition) {
  const PhiloxBlock block = philox_block(kSeed, kPosition),
                    wanted = philox4x32({{0x243f6a88, 0x85a308d3, 0, 0}}, 0xa4093822, 0x299f31d0);
  for (int lane = 0; lane < 4; ++lane) EXPECT_EQ(block.lanes[lane], wanted.lanes[lane]);
}

TEST(Philox, PositionsAreReadFromNumbersWithAllBits) {
  const double numbers[] = {0xa4093822, -1, 0x299f31d0, -1, 0x243f6a88, -1, 0x85a308d3, -1};
  RandomPosition position;
  position.read(numbers, 2);
  EXPECT_EQ(uint64_t(position.seed), kSeed);
  EXPECT_EQ(uint64_t(position.offset), kPosition);
}

TEST(Random, TakesAllBitsOfSeedAndPosition) {
  for (Device device : {kCpu, kSimt}) {
    Generator generator(kSeed, kPosition);
    const auto values = rand({8}, DType::f32, device, generator).to_vector<float>();
    for (uint64_t i = 0; i < 8; ++i)
      EXPECT_EQ(values[i], float(philox_block(kSeed, kPosition + i / 4).lanes[i % 4] >> 8) * 0x1p-24f) << i;
  }
}

/// What the extreme numbers become: low itself but never high, finite normal values, a threshold rounded up.
TEST(Distributions, OfTheExtremeNumbers) {
  const PhiloxBlock least{{0, 0, 0, 0}}, largest{{~0u, ~0u, ~0u, ~0u}};
  double values[4];
  Uniform uniform;
  uniform.low = -3, uniform.high = 5;
  uniform(least, values);
  EXPECT_EQ(values[0], -3);
  uniform(largest, values);
  EXPECT_EQ(values[3], 5 - 8 * 0x1p-24);
  Normal()(least, values);
  EXPECT_DOUBLE_EQ(values[0], std::sqrt(2 * std::log(0x1p24)));
  Bernoulli coin;
  coin.probability = 6.5 * 0x1p-24;
  coin(PhiloxBlock{{6 << 8, 7 << 8, 0, ~0u}}, values);
  EXPECT_EQ(std::vector<double>(values, values + 4), (std::vector<double>{1, 0, 1, 0}));
}

TEST(Generator, SetsWholeBlocksAside) {
  Generator generator(7, 10);
  EXPECT_EQ(generator.advance(5), 10u);
  EXPECT_EQ(generator.offset(), 12u);
  EXPECT_EQ(generator.advance(0), 12u);
  EXPECT_EQ(generator.offset(), 12u);
}

TEST(Random, ContinuesTheSequenceFromCallToCall) {
  Generator one(3), two(3);
  auto whole = rand({24}, DType::f32, kCpu, one).to_vector<float>();
  auto first = rand({8}, DType::f32, kCpu, two).to_vector<float>();
  auto second = rand({16}, DType::f32, kCpu, two).to_vector<float>();
  first.insert(first.end(), second.begin(), second.end());
  EXPECT_EQ(whole, first);
}

TEST(Random, DoesNotDependOnTheNumberOfThreads) {
  const int threads = num_threads();
  std::vector<float> results[2];
  for (int count : {1, 3}) {
    set_num_threads(count);
    Generator generator(11);
    results[count == 3] = randn({100003}, DType::f32, kCpu, generator).to_vector<float>();
  }
  set_num_threads(threads);
  EXPECT_EQ(results[0], results[1]);
}

TEST(Random, UniformHasTheSameBitsOnEveryDevice) {
  Generator one(5), two(5);
  Tensor a = Tensor::empty({1001}), b = Tensor::empty({1001}, DType::f32, kSimt);
  uniform_(a, -0.3, 1.7, one);
  uniform_(b, -0.3, 1.7, two);
  EXPECT_EQ(a.to_vector<float>(), b.to_vector<float>());
}

/// Means and deviations within six standard errors of n values.
TEST(Random, HasTheMomentsOfItsDistribution) {
  const int64_t n = 400000;
  auto moments = [&](const Tensor& x) {
    double sum = 0, squares = 0;
    for (double value : x.to_doubles()) sum += value, squares += value * value;
    return std::pair(sum / n, squares / n - sum / n * (sum / n));
  };
  const double error = 6 / std::sqrt(double(n));
  Generator generator(1);
  auto [uniform_mean, uniform_variance] = moments(rand({n}, DType::f32, kCpu, generator));
  EXPECT_NEAR(uniform_mean, 0.5, error * std::sqrt(1.0 / 12));
  EXPECT_NEAR(uniform_variance, 1.0 / 12, error * std::sqrt(1.0 / 180));
  auto [normal_mean, normal_variance] = moments(randn({n}, DType::f32, kCpu, generator));
  EXPECT_NEAR(normal_mean, 0, error);
  EXPECT_NEAR(normal_variance, 1, error * std::sqrt(2.0));
  Tensor coins = Tensor::empty({n}, DType::u8);
  bernoulli_(coins, 0.3, generator);
  EXPECT_NEAR(moments(coins).first, 0.3, error * std::sqrt(0.21));
}

TEST(Random, BernoulliRefusesWhatIsNoProbability) {
  EXPECT_THROW(bernoulli_(Tensor::empty({2}), 1.5), ValueError);
  EXPECT_THROW(bernoulli_(Tensor::empty({2}), std::nan("")), ValueError);
}

}  // namespace
}  // namespace treadle
