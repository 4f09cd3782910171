/// Profiler: which runs belong to which step, and the trace of them.
#include "treadle/train/callbacks/profiler.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/compile/restored_settings.h"
#include "tests/refused.h"
#include "tests/train/bright_quarters.h"
#include "treadle/core/error.h"
#include "treadle/graph/run_hook.h"
#include "treadle/graph/settings.h"
#include "treadle/models/model.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/optim/sgd/sgd.h"
#include "treadle/train/classification/fit_classifier.h"

namespace treadle {
namespace {

class Profile : public testing::Test {
 protected:
  /// Two epochs of five steps, each with a test behind it.
  void train(Profiler& profiler) {
    auto model = make_model("mlp", 5);
    Sgd optimizer(model->named_parameters(), 1e-3);
    ClassifierOptions o;
    o.epochs = 2, o.batch_size = 24;
    o.callbacks = {&profiler};
    result_ = fit_classifier(*model, optimizer, Schedule::named("constant", 1e-3), data_, o);
  }

  /// The ops of each step, in their order.
  static std::vector<std::vector<std::string>> ops_of(const Profiler& profiler) {
    std::vector<std::vector<std::string>> ops(profiler.steps().size());
    for (const ProfiledRun& run : profiler.runs()) ops.at(size_t(run.step)).push_back(run.op);
    return ops;
  }

  DatasetSplits data_{bright_quarters(120, 1), bright_quarters(40, 3)};
  FitResult result_;
  DeterministicRuns equal_bits_;
};

/// Each step has the same runs: what evaluations run between the epochs is none of them.
TEST_F(Profile, StepsAreThoseAskedForAndNothingElse) {
  Profiler profiler({.skip = 3, .steps = 4});
  train(profiler);
  ASSERT_EQ(profiler.steps().size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const ProfiledStep& step = profiler.steps()[i];
    EXPECT_EQ(step.epoch * 5 + step.number - 6, int64_t(3 + i));
    EXPECT_EQ(step.loss, result_.losses[3 + i]);
    EXPECT_GT(step.seconds, 0);
  }
  const auto ops = ops_of(profiler);
  EXPECT_FALSE(ops[0].empty());
  for (const auto& step : ops) EXPECT_EQ(step, ops[0]);
  EXPECT_EQ(run_hook(), nullptr);
}

TEST_F(Profile, EagerStepsTellTheirOps) {
  struct Restore {
    Settings before = settings();
    ~Restore() { settings() = before; }
  } restore;
  settings().eager = true;
  Profiler profiler({.skip = 0, .steps = 1});
  train(profiler);
  const auto ops = ops_of(profiler);
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_NE(std::find(ops[0].begin(), ops[0].end(), "linear"), ops[0].end());
  EXPECT_NE(std::find(ops[0].begin(), ops[0].end(), "cross_entropy"), ops[0].end());
  for (const ProfiledRun& run : profiler.runs())
    if (run.op == "linear" && run.operands.starts_with("[24, 784] [128, 784]")) {
      EXPECT_EQ(run.operations, 2.0 * 24 * 784 * 128);
      EXPECT_EQ(run.bytes, 4.0 * (24 * 784 + 784 * 128 + 128 + 24 * 128));
      return;
    }
  ADD_FAILURE() << "the first layer is not among the runs";
}

/// In the order of time, no run reaches out of its step, and none into another.
TEST_F(Profile, TheTraceNests) {
  Profiler profiler({.skip = 2, .steps = 5});
  train(profiler);
  const auto trace = nlohmann::json::parse(trace_of(profiler.steps(), profiler.runs()));
  struct Span {
    double begin, end;
  };
  constexpr double kRounding = 1e-3;  // of microseconds as doubles
  std::vector<Span> steps, runs;
  std::set<std::string> categories;
  for (const auto& event : trace.at("traceEvents")) {
    EXPECT_EQ(event.at("ph"), "X");
    const double begin = event.at("ts"), seconds = event.at("dur");
    EXPECT_GE(begin, 0);
    EXPECT_GT(seconds, 0);
    (event.at("cat") == "step" ? steps : runs).push_back({begin, begin + seconds});
    if (event.at("cat") == "op") {
      EXPECT_FALSE(event.at("args").at("variant").get<std::string>().empty());
    }
  }
  ASSERT_EQ(steps.size(), 5u);
  ASSERT_EQ(runs.size(), profiler.runs().size());
  for (size_t i = 0; i < runs.size(); ++i) {
    const Span& step = steps.at(size_t(profiler.runs()[i].step));
    EXPECT_GE(runs[i].begin, step.begin - kRounding);
    EXPECT_LE(runs[i].end, step.end + kRounding);
    EXPECT_GE(runs[i].begin, i > 0 ? runs[i - 1].end - kRounding : 0);
  }
  for (size_t i = 1; i < steps.size(); ++i) EXPECT_GE(steps[i].begin, steps[i - 1].end - kRounding);
}

TEST_F(Profile, ARunOfFewStepsHasNone) {
  Profiler profiler({.skip = 10, .steps = 5});
  train(profiler);
  EXPECT_TRUE(profiler.steps().empty());
  EXPECT_TRUE(profiler.runs().empty());
  EXPECT_EQ(nlohmann::json::parse(trace_of({}, {})).at("traceEvents").size(), 0u);
  expect_refused({refused<ValueError>("none", {"0 steps"}, [] { Profiler({.steps = 0}); }),
                  refused<ValueError>("before", {"behind -1"}, [] { Profiler({.skip = -1}); })});
}

}  // namespace
}  // namespace treadle
