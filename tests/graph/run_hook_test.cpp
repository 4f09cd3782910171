/// What is around each run of a variant: eager calls and replays, the outermost run alone, one thread.
#include "treadle/graph/run_hook.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "treadle/compile/compile.h"
#include "treadle/core/runtime.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

using Names = std::vector<std::string>;

/// The ops of the runs that it is told of while it lives.
struct Told {
  Names ops;
  ObserveRuns observe{[this](const VariantRun& run, double) { ops.push_back(run.op.name); }};
};

/// An op whose only variant runs what `body` does.
Op op_that(void (*body)(const Call&)) {
  Op op;
  op.name = "made_up";
  op.infer = [](Specs inputs, const Attributes&) { return std::vector<TensorSpec>{inputs[0]}; };
  op.variants = {{.name = "loop", .device = DeviceKind::cpu, .run = body}};
  return op;
}

TEST(RunHook, IsToldWhichVariantRanOnWhat) {
  Tensor x = full({2, 3}, 1);
  int runs = 0;
  ObserveRuns observe([&](const VariantRun& run, double seconds) {
    ++runs;
    EXPECT_EQ(run.op.name, "relu");
    EXPECT_EQ(run.variant.device, DeviceKind::cpu);
    EXPECT_EQ(run.call.input(0).data, x.raw());
    EXPECT_EQ(run.call.output().shape, Shape({2, 3}));
    EXPECT_EQ(run.device, kCpu);
    EXPECT_GT(seconds, 0);
  });
  relu(x);
  EXPECT_EQ(runs, 1);
}

TEST(RunHook, SeesTheOutermostRunAlone) {
  const Op op = op_that([](const Call&) { relu(full({2}, 1)); });
  Tensor x = full({2}, 1);
  Told told;
  apply(op, {x}, {});
  relu(x);
  EXPECT_EQ(told.ops, Names({"made_up", "relu"}));
}

TEST(RunHook, DoesWhatItWantsBeforeAndAfter) {
  struct Doubling final : RunHook {
    void around(const VariantRun& run) override {
      run();
      Tensor again = relu(full({2}, -1));  // its own runs are not its matter
      run.call.output().as<float>()[0] *= 2 + again.to_doubles()[0];
      ++runs;
    }
    int runs = 0;
  } hook;
  HookRuns hooked(hook);
  EXPECT_EQ(relu(full({2}, 3)).to_doubles(), (std::vector<double>{12, 3}));  // full() and relu()
  EXPECT_EQ(hook.runs, 2);
}

TEST(RunHook, TheNewestCountsUntilItEnds) {
  Tensor x = full({2}, 1);
  Told older;
  {
    Told newer;
    relu(x);
    EXPECT_EQ(newer.ops, Names({"relu"}));
  }
  x + x;
  EXPECT_EQ(older.ops, Names({"add"}));
}

TEST(RunHook, StaysAfterAFailure) {
  const Op op = op_that([](const Call&) { throw std::runtime_error("on purpose"); });
  Tensor x = full({2}, 1);
  Told told;
  EXPECT_THROW(apply(op, {x}, {}), std::runtime_error);
  relu(x);
  EXPECT_EQ(told.ops, Names({"relu"}));
}

TEST(RunHook, BelongsToItsThread) {
  Told told;
  std::thread([] { relu(full({2}, 1)); }).join();
  EXPECT_TRUE(told.ops.empty());
}

void expect_steps_of_replays(Device device, CompileOptions::Graph graph) {
  auto f = compile([](Tensor x) { return sum(relu(x)); }, {.measure = false, .fuse = false, .graph = graph});
  const Tensor x = to(full({2, 3}, 2), device);
  for (int i = 0; i < 3; ++i) f(x);
  Told told;
  EXPECT_EQ(f(x).item(), 12);
  EXPECT_EQ(told.ops, Names({"relu", "sum"}));
}

TEST(RunHook, IsAroundEachStepOfAReplay) { expect_steps_of_replays(kCpu, CompileOptions::Graph::never); }

TEST(RunHook, IsAroundTheStepsThatAGraphHasCaptured) {
  expect_steps_of_replays({DeviceKind::simt, 0}, CompileOptions::Graph::always);
}

}  // namespace
}  // namespace treadle
