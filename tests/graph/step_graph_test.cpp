/// Definitions and uses follow every change of a graph of steps.
#include "treadle/graph/step_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/op_named_so.h"

namespace treadle {
namespace {

/// What makes its outputs of its inputs, and what updates its input 0 in place.
const Op kMaker = op_named_so("maker");
const Op kUpdate = op_named_so("update", {0});

TensorSpec four() { return TensorSpec::of({4}, DType::f32); }

/// Values 0 to `count` - 1, each in a result of its own.
StepGraph graph_of(int count) {
  StepGraph graph;
  for (int i = 0; i < count; ++i) graph.add_value({graph.add_buffer({}), 0, four()});
  return graph;
}

Step make(std::vector<int> inputs, std::vector<int> outputs) {
  return {&kMaker, {}, std::move(inputs), std::move(outputs)};
}
Step update(int value, int by) { return {&kUpdate, {}, {value, by}, {value}}; }

bool has(const std::vector<int>& values, int value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// The same answers by looking at all steps.
int64_t last_write_by_looking(const StepGraph& graph, int value, size_t end) {
  for (size_t i = end; i-- > 0;)
    if (has(graph[i].outputs, value) || has(mutated_values(graph[i]), value)) return int64_t(i);
  return -1;
}

void expect_the_same_by_looking(const StepGraph& graph, int value) {
  int mentions = graph.is_outside(value);
  int64_t maker = -1, last = -1;
  std::vector<size_t> readers;
  for (size_t i = 0; i < graph.size(); ++i) {
    const Step& step = graph[i];
    mentions += int(std::count(step.inputs.begin(), step.inputs.end(), value) +
                    std::count(step.outputs.begin(), step.outputs.end(), value));
    if (has(step.outputs, value) && maker < 0) maker = int64_t(i);
    for (int input : step.inputs)
      if (input == value) readers.push_back(i);
    if (has(step.inputs, value) || has(step.outputs, value)) last = int64_t(i);
    EXPECT_EQ(graph.writes_between(i, i + 1, {kNoValue, value}), has(mutated_values(step), value));
  }
  EXPECT_EQ(graph.mentions(value), mentions);
  EXPECT_EQ(graph.maker_of(value, graph.size()), maker);
  EXPECT_EQ(graph.readers(value), readers);
  EXPECT_EQ(graph.last_mention(value, graph.size()), last);
  for (size_t end : {graph.size() / 2, graph.size()})
    EXPECT_EQ(graph.last_write(value, end), last_write_by_looking(graph, value, end));
}

TEST(StepGraph, KnowsUsesAfterAnyChange) {
  constexpr int kValues = 6;
  std::mt19937 random(1);
  auto below = [&](size_t end) { return size_t(random() % end); };
  auto value = [&] { return int(below(kValues)); };
  StepGraph graph = graph_of(kValues);
  graph.hand_out(2);
  for (int round = 0; round < 300; ++round) {
    Step step = below(3) ? make({value(), value()}, {value()}) : update(value(), value());
    if (graph.size() < 4 || below(2)) {
      graph.insert(below(graph.size() + 1), step);
    } else if (below(2)) {
      graph.move(below(graph.size()), below(graph.size()));
    } else if (below(2)) {
      graph.replace(below(graph.size()), step);
    } else {
      graph.erase(below(graph.size()));
    }
    for (int i = 0; i < kValues; ++i) expect_the_same_by_looking(graph, i);
  }
}

TEST(StepGraph, AsksAboutMemoryWhateverTheView) {
  StepGraph graph = graph_of(2);
  const int view = graph.reshaped(0, {2, 2});
  graph.add(make({}, {0}));
  graph.add(make({view}, {1}));
  EXPECT_EQ(graph.readers_of(0), std::vector<size_t>{1});
  EXPECT_EQ(graph.sole_reader_of(0), 1);
  EXPECT_TRUE(graph.same_elements(0, view));
  graph.add(make({0, 0}, {}));
  EXPECT_EQ(graph.readers_of(0), (std::vector<size_t>{1, 2, 2}));
  EXPECT_EQ(graph.sole_reader_of(0), -1);
}

TEST(StepGraph, WhatTheCallerGetsHasNoSoleReader) {
  StepGraph graph = graph_of(2);
  graph.add(make({}, {0}));
  graph.add(make({0}, {1}));
  EXPECT_EQ(graph.sole_reader_of(0), 1);
  graph.hand_out(1);
  graph.hand_out(0);
  graph.hand_out(0);
  EXPECT_EQ(graph.outputs(), 2);
  EXPECT_EQ(graph.memory_of(0).number, 1);
  EXPECT_EQ(graph.sole_reader_of(0), -1);
  EXPECT_TRUE(graph.readers_of(0).empty());
}

TEST(StepGraph, OnesThatAreWrittenOnceMoreAreNone) {
  StepGraph graph = graph_of(2);
  graph.set_ones(0);
  graph.add(update(0, kNoValue));
  EXPECT_TRUE(graph.is_ones(0));
  EXPECT_FALSE(graph.is_ones(1));
  graph.add(update(0, 1));
  EXPECT_FALSE(graph.is_ones(0));
}

}  // namespace
}  // namespace treadle
