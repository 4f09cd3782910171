/// Over how many threads replays are spread: as few as are faster, measured again, and never with other
/// results.
#include "treadle/compile/replay_threads.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/compile/restored_settings.h"
#include "treadle/compile/compile.h"
#include "treadle/core/affinity.h"
#include "treadle/core/random.h"
#include "treadle/graph/autograd.h"
#include "treadle/models/model.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

constexpr int kAll = 8, kRegions = 4;

/// Replays of made-up programs. Time passes only in them, so that nothing depends on the machine.
class ReplayThreadsTest : public testing::Test {
 protected:
  ReplayThreadsTest() {
    set_num_threads(kAll);
    now_ = 0;
  }
  ~ReplayThreadsTest() override { set_num_threads(before_); }
  void SetUp() override {
    if (usable_cores().size() < 2) GTEST_SKIP() << "on one core nothing is spread over threads";
  }

  /// Runs so many replays that take `seconds(threads)`.
  void replay(int count, const std::function<double(int)>& seconds) {
    for (int i = 0; i < count; ++i)
      threads_.run([&] {
        for (int region = 0; region < kRegions; ++region) parallel_for(2, 1, [](int64_t, int64_t) {});
        now_ += seconds(threads_.threads());
      });
  }

  /// Enough for the first trial, and for a later one of each number of threads.
  static constexpr int kFirst = 500, kRound = 50'000;
  static inline double now_;
  const int before_ = num_threads();
  ReplayThreads threads_{[] { return now_; }};
};

TEST_F(ReplayThreadsTest, StayAllWhereMoreAreFaster) {
  replay(kFirst + kRound, [](int threads) { return 100e-6 / threads; });
  EXPECT_EQ(threads_.threads(), kAll);
}

TEST_F(ReplayThreadsTest, BecomeOneWhereRegionsAreDear) {
  replay(kFirst, [](int threads) { return 40e-6 / threads + 20e-6 * (threads - 1); });
  EXPECT_EQ(threads_.threads(), 1);
}

TEST_F(ReplayThreadsTest, BecomeAFewWhereThoseAreBest) {
  replay(kFirst, [](int threads) { return threads == 4 ? 20e-6 : 40e-6; });
  EXPECT_EQ(threads_.threads(), 4);
}

TEST_F(ReplayThreadsTest, StayWhereOthersAreFasterByNoise) {
  replay(kFirst + kRound, [](int threads) { return threads == kAll ? 40e-6 : 39.5e-6; });
  EXPECT_EQ(threads_.threads(), kAll);
}

TEST_F(ReplayThreadsTest, FollowAMachineThatChanges) {
  const auto far = [](int threads) { return threads == 1 ? 40e-6 : 68e-6; };
  const auto near = [](int threads) { return threads == 1 ? 41e-6 : threads == kAll ? 34e-6 : 38e-6; };
  replay(kFirst, far);
  EXPECT_EQ(threads_.threads(), 1);
  replay(kRound, near);
  EXPECT_EQ(threads_.threads(), kAll);
  replay(kRound, far);
  EXPECT_EQ(threads_.threads(), 1);
}

/// One replay in so many may be slow, as when a timer strikes: the median does not see it.
TEST_F(ReplayThreadsTest, AreNotDecidedByAReplayThatIsDisturbed) {
  int calls = 0;
  replay(kFirst + kRound, [&](int threads) { return 100e-6 / threads + (++calls % 5 == 0 ? 1e-3 : 0); });
  EXPECT_EQ(threads_.threads(), kAll);
}

TEST_F(ReplayThreadsTest, AreNotTriedWhereRegionsAreLong) {
  replay(kFirst + kRound,
         [](int threads) { return threads == kAll ? 2 * kRegions * ReplayThreads::kLongestRegion : 1e-6; });
  EXPECT_EQ(threads_.threads(), kAll);
}

/// A trial's replays have a 256th of the time; the first one is paid before the count begins, and one more
/// may have begun.
TEST_F(ReplayThreadsTest, CostLittle) {
  const auto seconds = [](int threads) { return 80e-6 / threads; };
  replay(kFirst, seconds);
  const double before = now_;
  replay(kRound, seconds);
  EXPECT_LT(now_ - before, (1 + 1.5 / ReplayThreads::kRest) * kRound * seconds(kAll));
}

TEST_F(ReplayThreadsTest, AreAllAgainWhenTheirNumberIsSet) {
  replay(kFirst, [](int threads) { return threads * 20e-6; });
  EXPECT_EQ(threads_.threads(), 1);
  set_num_threads(4);
  replay(1, [](int threads) { return threads * 20e-6; });
  EXPECT_EQ(threads_.threads(), 4);
}

/// The parts of the work stay those of all threads, and with them every bit.
TEST(FewerThreads, LeaveResultsAsTheyAre) {
  DeterministicRuns deterministic;
  const int before = num_threads();
  set_num_threads(5);
  detail::finest_cuts = true;
  auto gradients = [](int threads) {
    const detail::RegionThreads scope(threads);
    auto model = make_model("fashion_cnn", 3);
    Generator generator(5);
    const Tensor x = rand({6, 1, 28, 28}, DType::f32, kCpu, generator);
    auto step = compile([&](Tensor images) {
      model->zero_grad();
      const Tensor scores = (*model)(images);
      Tensor loss = mean(scores * scores);
      loss.backward();
      return loss;
    });
    std::vector<std::vector<float>> all{step(x).to_vector<float>()};
    for (auto& [name, parameter] : model->named_parameters())
      all.push_back(parameter.grad().to_vector<float>());
    return all;
  };
  const auto wanted = gradients(5);
  for (int threads : {1, 2, 3}) EXPECT_EQ(gradients(threads), wanted) << threads;
  detail::finest_cuts = false;
  set_num_threads(before);
}

}  // namespace
}  // namespace treadle
