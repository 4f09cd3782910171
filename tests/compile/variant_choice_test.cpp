/// How the fastest variant is found: by times that no short disturbance decides, and zeros in training.
#include "treadle/compile/variant_choice.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "treadle/compile/measuring.h"
#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"
#include "treadle/graph/op.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/conv2d/conv2d_options.h"

namespace treadle {
namespace {

/// Measurements of made-up variants, in a file of their own. Time passes only while one of them works, so
/// that nothing depends on the machine.
class VariantChoice : public ::testing::Test {
 protected:
  VariantChoice() {
    if (const char* before = std::getenv("TREADLE_CACHE")) before_ = before;
    ::setenv("TREADLE_CACHE", folder_.c_str(), 1);
    VariantCache::clear();
    runs_ = 0, elapsed_ = 0;
  }
  ~VariantChoice() override {
    if (before_)
      ::setenv("TREADLE_CACHE", before_->c_str(), 1);
    else
      ::unsetenv("TREADLE_CACHE");
    std::filesystem::remove_all(folder_);
  }

  static void work(double milliseconds) { elapsed_ += milliseconds; }
  template <int microseconds>
  static void busy(const Call&) {
    ++runs_;
    work(microseconds / 1e3);
  }
  /// The same, but in the first milliseconds something else takes the processor.
  template <int microseconds, int until>
  static void disturbed(const Call& call) {
    busy<microseconds>(call);
    if (elapsed_ < until) work(5 * microseconds / 1e3);
  }

  static Variant variant(const char* name, void (*run)(const Call&), bool skips_zeros = false) {
    return {
        .name = name, .device = DeviceKind::cpu, .run = run, .preference = 10, .skips_zeros = skips_zeros};
  }
  static Op op_with(const char* name, std::vector<Variant> variants) {
    Op op;
    op.name = name;
    op.variants = std::move(variants);
    return op;
  }
  VariantTimes measured(const Op& op) const {
    return measured_times(op, call_, kCpu, {[&](const Variant& variant) { variant.run(call_); }});
  }
  std::string fastest(const Op& op, const VariantTimes& times) const {
    return fastest_variant(op, call_, kCpu, times).name;
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("treadle_choice_{}", ::getpid());
  std::optional<std::string> before_;
  const Attributes attributes_;
  const Call call_{{}, {}, attributes_};
  static inline double elapsed_;  ///< milliseconds
  static inline int runs_;
  const ObserveMeasuring clock_{{.go_on = {}, .ended = {}, .clock = [] { return elapsed_ / 1e3; }}};
};

TEST_F(VariantChoice, TakesTheFastest) {
  const Op op = op_with("op", {variant("slow", busy<400>), variant("fast", busy<100>)});
  const VariantTimes times = measured(op);
  EXPECT_EQ(fastest(op, times), "fast");
  EXPECT_NEAR(times.at("slow"), 400e-6, 1e-9);
  EXPECT_NEAR(times.at("fast"), 100e-6, 1e-9);
}

/// As in a file that an earlier version with fewer variants has written.
TEST_F(VariantChoice, MeasuresAgainWhereOneIsNotKnown) {
  const Op op = op_with("op", {variant("old", busy<400>), variant("new", busy<100>)});
  VariantCache::store(variant_key(op, call_, kCpu), {{"old", 400e-6}});
  const VariantTimes times = measured(op);
  EXPECT_EQ(times.size(), 2u);
  EXPECT_EQ(fastest(op, times), "new");
}

TEST_F(VariantChoice, IsMadeWhereTheSettingsLeaveSeveral) {
  const Op one = op_with("one", {variant("only", busy<1>)}),
           two = op_with("two", {variant("a", busy<1>), variant("b", busy<1>)});
  EXPECT_FALSE(needs_choice(one, call_, kCpu));
  EXPECT_TRUE(needs_choice(two, call_, kCpu));
  const Settings before = settings();
  settings().deterministic = true;
  EXPECT_FALSE(needs_choice(two, call_, kCpu)) << "another run may measure other times";
  settings() = before;
  settings().variants["two"] = "a";
  EXPECT_FALSE(needs_choice(two, call_, kCpu));
  settings() = before;
}

TEST_F(VariantChoice, HoldsForOneLayoutOptionsAndNumberOfThreads) {
  Op op = op_with("op", {});
  op.options = &schema_of<Conv2dOptions>();
  auto key = [&](const Strides& strides, const Conv2dOptions& options) {
    const TensorView x{nullptr, DType::f32, {2, 3}, strides};
    const Attributes attributes = Attributes::of(options);
    return variant_key(op, Call{{&x, 1}, {}, attributes}, kCpu);
  };
  const std::string first = key({3, 1}, {});
  EXPECT_EQ(first, key({3, 1}, {}));
  EXPECT_NE(first, key({1, 2}, {}));
  EXPECT_NE(first, key({3, 1}, {.stride = 2}));
  const int threads = num_threads();
  set_num_threads(threads + 1);
  EXPECT_NE(first, key({3, 1}, {}));
  set_num_threads(threads);
}

/// A disturbance of some milliseconds, in which the faster variant comes first.
TEST_F(VariantChoice, IsNotDecidedByADisturbance) {
  const Op op = op_with("op", {variant("fast", disturbed<100, 8>), variant("slow", disturbed<250, 8>)});
  const VariantTimes times = measured(op);
  EXPECT_EQ(fastest(op, times), "fast");
  EXPECT_LT(times.at("fast"), 250e-6);
}

/// Longer than the shortest measurement: no two rounds agree, so that it goes on.
TEST_F(VariantChoice, GoesOnUntilTimesAreSettled) {
  static double disturbance;
  auto fast = [](const Call&) { work(++runs_ < 12 ? disturbance *= 0.8 : 0.2); };
  const Op op = op_with("op", {variant("fast", fast), variant("slow", [](const Call&) { work(1); })});
  disturbance = 20;
  EXPECT_EQ(fastest(op, measured(op)), "fast");
}

/// One run is so fast that none comes near it again.
TEST_F(VariantChoice, IsBounded) {
  auto never_settled = [](const Call&) { work(++runs_ == 2 ? 0.05 : 5); };
  const Op op = op_with("op", {variant("one", never_settled), variant("two", busy<1000>)});
  measured(op);
  EXPECT_GT(elapsed_, 400);
  EXPECT_LT(elapsed_, 410);
}

/// Two runs that agree are enough to know that, beside the first, which is not counted.
TEST_F(VariantChoice, LeavesOutWhatIsFarSlower) {
  const Op op =
      op_with("op", {variant("slow", busy<30'000>), variant("fast", [](const Call&) { work(0.1); })});
  EXPECT_NEAR(measured(op).at("slow"), 0.03, 1e-9);
  EXPECT_EQ(runs_, 3);
}

/// Two rounds of both, the first of two runs each, then two rounds of the faster one.
TEST_F(VariantChoice, LeavesOutWhatIsSlowerOnceADisturbanceWouldBeOver) {
  const Op op = op_with("op", {variant("slow", busy<6'000>), variant("fast", busy<2'000>)});
  EXPECT_NEAR(measured(op).at("slow"), 6e-3, 1e-9);
  EXPECT_NEAR(elapsed_, 2 * 6 + 2 * 2 + 6 + 2 * 2 + 2 * 2 * 2, 1e-6);
}

/// As where the process is stopped in a run: that run decides nothing.
TEST_F(VariantChoice, ForgivesALongRun) {
  for (int stopped : {1, 2, 3, 12}) {
    VariantCache::clear();
    static int stop_at;
    stop_at = stopped, runs_ = 0;
    auto stops = [](const Call&) { work(++runs_ == stop_at ? 700 : 0.2); };
    const Op op = op_with("op", {variant("fast", stops), variant("slow", [](const Call&) { work(1); })});
    EXPECT_EQ(fastest(op, measured(op)), "fast") << "run " << stopped;
  }
}

TEST_F(VariantChoice, MeasuresOnce) {
  const Op op = op_with("op", {variant("a", busy<50>), variant("b", busy<100>)});
  const VariantTimes times = measured(op);
  const int runs = runs_;
  EXPECT_EQ(measured(op), times);
  EXPECT_EQ(runs_, runs);
}

}  // namespace
}  // namespace treadle
