/// Passes over a graph of steps: they name no op.
#include <gtest/gtest.h>

#include "tests/op_named_so.h"
#include "treadle/compile/dead_steps.h"
#include "treadle/compile/declared_fusions.h"
#include "treadle/compile/early_updates.h"
#include "treadle/compile/plan.h"
#include "treadle/core/error.h"
#include "treadle/graph/settings.h"

namespace treadle {
namespace {

const Op kFirst = op_named_so("first"), kSecond = op_named_so("second"), kBoth = op_named_so("both");
const Op kUpdate = op_named_so("update", {0});

const Op& first_op() { return kFirst; }
const Op& second_op() { return kSecond; }

/// Values in results of their own, labels among them, and a parameter.
struct Passes : testing::Test {
  StepGraph graph;
  int a = add(DType::f32), b = add(DType::f32), c = add(DType::f32), labels = add(DType::i64);
  int parameter = add(DType::f32, GraphBuffer::Kind::captured);

  int add(DType dtype, GraphBuffer::Kind kind = GraphBuffer::Kind::result) {
    GraphBuffer buffer;
    buffer.kind = kind, buffer.bytes = 64;
    return graph.add_value({graph.add_buffer(buffer), 0, TensorSpec::of({4}, dtype)});
  }
  void step(const Op& op, std::vector<int> inputs, std::vector<int> outputs) {
    graph.add({&op, {}, std::move(inputs), std::move(outputs)});
  }
  std::vector<std::string> names() const {
    std::vector<std::string> list;
    for (size_t i = 0; i < graph.size(); ++i) list.push_back(graph[i].op->name);
    return list;
  }
};
using Names = std::vector<std::string>;

TEST_F(Passes, DeadStepsGoWithWhatOnlyTheyRead) {
  step(kFirst, {}, {a});
  step(kSecond, {a}, {b});
  step(kFirst, {}, {c});
  step(kUpdate, {parameter, c}, {parameter});
  remove_dead_steps(graph);
  EXPECT_EQ(names(), Names({"first", "update"}));
  EXPECT_EQ(graph[0].outputs, std::vector<int>{c});
}

TEST_F(Passes, UpdatesFollowTheLastStepThatTheyWaitFor) {
  step(kFirst, {parameter}, {a});
  step(kSecond, {a}, {b});
  step(kFirst, {b}, {c});
  step(kUpdate, {parameter, a}, {parameter});
  step(kUpdate, {parameter, b}, {parameter});
  move_updates_early(graph);
  EXPECT_EQ(names(), Names({"first", "update", "second", "update", "first"}));
}

TEST_F(Passes, UpdatesStayBehindStepsThatMayFail) {
  step(kFirst, {}, {a});
  step(kSecond, {labels}, {b});
  step(kFirst, {}, {c});
  step(kUpdate, {parameter, a}, {parameter});
  move_updates_early(graph);
  EXPECT_EQ(names(), Names({"first", "second", "update", "first"}));
}

/// first, then second of its result: both.
StepFusion both() {
  return {{first_op, second_op}, [](StepGraph& steps, size_t at) -> std::optional<std::string> {
            const int64_t reader = steps.sole_reader_of(at);
            if (reader < 0 || steps[size_t(reader)].op != &kSecond) return {};
            steps.replace(size_t(reader), {&kBoth, {}, steps[at].inputs, steps[size_t(reader)].outputs});
            steps.erase(at);
            return "first + second → both";
          }};
}

TEST_F(Passes, FusionsAreAppliedAsOftenAsTheyFit) {
  step(kFirst, {}, {a});
  step(kSecond, {a}, {b});
  step(kFirst, {b}, {c});
  step(kSecond, {c}, {parameter});
  EXPECT_EQ(apply_fusions({both()}, graph), Names(2, "first + second → both"));
  EXPECT_EQ(names(), Names({"both", "both"}));
}

TEST_F(Passes, FusionsOfAnOpWhoseVariantIsNamedAreLeftOut) {
  step(kFirst, {}, {a});
  step(kSecond, {a}, {b});
  const Settings before = settings();
  settings().variants["second"] = "loop";
  EXPECT_TRUE(apply_fusions({both()}, graph).empty());
  settings() = before;
}

TEST_F(Passes, PlanningSharesTheArenaInTime) {
  step(kFirst, {}, {a});
  step(kSecond, {a}, {b});
  step(kFirst, {b}, {c});
  step(kUpdate, {parameter, c}, {parameter});
  Program program;
  plan(graph, program);
  const auto& buffers = program.buffers;
  EXPECT_EQ(buffers[size_t(graph.buffer_of(a))].first, 0);
  EXPECT_EQ(buffers[size_t(graph.buffer_of(a))].last, 1);
  EXPECT_EQ(buffers[size_t(graph.buffer_of(c))].offset, buffers[size_t(graph.buffer_of(a))].offset);
  EXPECT_EQ(program.statistics.arena_bytes, 128u);
  EXPECT_EQ(program.statistics.separate_bytes, 192u);
  EXPECT_EQ(program.steps.size(), 4u);
}

TEST_F(Passes, PlanningRefusesTwoDevices) {
  GraphBuffer elsewhere;
  elsewhere.device = {DeviceKind::simt, 0};
  const int other = graph.add_value({graph.add_buffer(elsewhere), 0, TensorSpec::of({4}, DType::f32)});
  step(kFirst, {a}, {b});
  step(kSecond, {b}, {other});
  Program program;
  EXPECT_THROW(plan(graph, program), RecordingError);
}

}  // namespace
}  // namespace treadle
