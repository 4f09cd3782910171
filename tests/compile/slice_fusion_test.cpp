/// Gradients of slices in programs: those that cover a tensor are written one after another.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/compile/names_of_steps.h"
#include "tests/compile/options.h"
#include "tests/random_tensor.h"
#include "treadle/compile/compile.h"
#include "treadle/ops/layout/concat.h"
#include "treadle/ops/layout/slice_gradient.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

struct Slice {
  int64_t begin, end, step = 1;
};

struct Outcome {
  std::vector<float> gradient;
  std::vector<std::string> steps;
  int64_t count(const std::string& name) const { return std::count(steps.begin(), steps.end(), name); }
};

/// The gradient of x, [3, 8, 2] or of any shape whose axis 1 has 8 positions, each slice of which is squared.
Outcome run(const Shape& shape, const std::vector<Slice>& slices, bool compiled) {
  Tensor x = random_tensor(shape, 1);
  x.set_requires_grad();
  auto step = [&](std::span<const Tensor>) {
    const Tensor y = x * x;
    Tensor loss;
    for (const Slice& s : slices) {
      const Tensor part = slice(y, 1, s.begin, s.end, s.step), term = sum(part * part * part);
      loss = loss.defined() ? loss + term : term;
    }
    loss.backward();
    return std::vector{loss};
  };
  CompiledFunction function(step, kDeclared);
  compiled ? function({}) : step({});
  Outcome outcome{x.grad().to_vector<float>(), {}};
  if (compiled) outcome.steps = names_of_steps(*function.programs().back().program);
  return outcome;
}

void expect_fused(const std::vector<Slice>& slices) {
  for (const Shape& shape : {Shape{3, 8, 2}, Shape{8, 8}}) {
    const Outcome compiled = run(shape, slices, true);
    EXPECT_EQ(compiled.gradient, run(shape, slices, false).gradient);
    EXPECT_EQ(compiled.count("slice_gradient"), 0);
    EXPECT_EQ(compiled.count("concat"), 1);
  }
}

void expect_left_alone(const std::vector<Slice>& slices) {
  const Outcome compiled = run({3, 8, 2}, slices, true);
  EXPECT_EQ(compiled.gradient, run({3, 8, 2}, slices, false).gradient);
  EXPECT_EQ(compiled.count("slice_gradient"), int64_t(slices.size()));
  EXPECT_EQ(compiled.count("concat"), 0);
}

TEST(SliceFusion, PartsInAnyOrderThatCoverTheTensor) {
  expect_fused({{0, 3}, {3, 8}});
  expect_fused({{3, 8}, {0, 3}});
  expect_fused({{0, 2}, {2, 5}, {5, 8}});
  expect_fused({{5, 8}, {0, 2}, {2, 5}});
  expect_fused({{2, 5}, {5, 8}, {0, 2}, {8, 8}});
}

TEST(SliceFusion, NotWherePartsOverlapOrLeaveSomethingOut) {
  expect_left_alone({{0, 4}, {3, 8}});
  expect_left_alone({{0, 3}, {4, 8}});
  expect_left_alone({{0, 4}, {2, 4}, {6, 8}});
  expect_left_alone({{0, 3}, {3, 7}});
  expect_left_alone({{0, 8, 2}, {4, 8}});
  expect_left_alone({{0, 8}, {0, 8}});
  expect_left_alone({{1, 8}});
}

/// A slice's gradient that something else reads, too, is made.
TEST(SliceFusion, NotWhereAGradientIsReadElsewhere) {
  const Tensor x = random_tensor({3, 8}, 1), a = random_tensor({3, 5}, 2), b = random_tensor({3, 3}, 3);
  CompiledFunction function(
      [](std::span<const Tensor> inputs) {
        const Tensor left = slice_gradient(inputs[1], {.axis = 1, .begin = 0, .extent = 8}),
                     right = slice_gradient(inputs[2], {.axis = 1, .begin = 5, .extent = 8});
        return std::vector{left + right, sum(right * inputs[0])};
      },
      kDeclared);
  const std::vector<Tensor> inputs{x, a, b};
  EXPECT_EQ(function(inputs)[0].to_vector<float>(), concat({a, b}, 1).to_vector<float>());
  const auto steps = names_of_steps(*function.programs().back().program);
  EXPECT_EQ(std::count(steps.begin(), steps.end(), "slice_gradient"), 2);
}

}  // namespace
}  // namespace treadle
