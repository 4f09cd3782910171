/// Batch normalisation with a residual and ReLU in programs: one step each way, and the same numbers.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/compile/names_of_steps.h"
#include "tests/compile/options.h"
#include "tests/random_tensor.h"
#include "treadle/compile/compile.h"
#include "treadle/nn/batch_norm.h"
#include "treadle/ops/conv2d/conv2d.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

using Body = std::function<Tensor(BatchNorm2d& layer, const Tensor& x, const Tensor& residual)>;

struct Outcome {
  std::vector<float> y, gradient, weight_gradient, residual_gradient, running_mean;
  std::vector<std::string> steps, fusions;
};

/// Twice, on layers that begin alike: the second call sees the statistics that the first has moved.
Outcome run(const Body& body, const Shape& residual_shape, bool compiled, bool training = true) {
  BatchNorm2d layer(3);
  layer.train(training);
  Tensor x = random_tensor({4, 3, 2, 5}, 1), residual = random_tensor(residual_shape, 2);
  const Tensor probe = random_tensor(x.shape(), 3);
  x.set_requires_grad();
  residual.set_requires_grad();
  auto step = [&](std::span<const Tensor>) {
    const Tensor y = body(layer, x, residual);
    sum(y * probe).backward();
    return std::vector{y};
  };
  CompiledFunction function(step, kDeclared);
  Outcome outcome;
  for (int call = 0; call < 2; ++call) {
    layer.zero_grad();
    for (Tensor* t : {&x, &residual}) t->set_grad({});
    outcome.y = (compiled ? function({}) : step({}))[0].to_vector<float>();
  }
  outcome.gradient = x.grad().to_vector<float>();
  outcome.weight_gradient = layer.weight.grad().to_vector<float>();
  if (residual.grad().defined()) outcome.residual_gradient = residual.grad().to_vector<float>();
  outcome.running_mean = layer.running_mean.to_vector<float>();
  if (!compiled) return outcome;
  const Program& program = *function.programs().back().program;
  outcome.steps = names_of_steps(program);
  for (const std::string& fusion : program.fusions)
    if (fusion.find("batch_norm") != std::string::npos) outcome.fusions.push_back(fusion);
  return outcome;
}

int64_t count(const Outcome& outcome, const std::string& name) {
  return std::count(outcome.steps.begin(), outcome.steps.end(), name);
}

/// Without a rounding more or less: the fused step adds and cuts as the ops alone do.
void expect_same(const Outcome& compiled, const Outcome& eager) {
  EXPECT_EQ(compiled.y, eager.y);
  EXPECT_EQ(compiled.gradient, eager.gradient);
  EXPECT_EQ(compiled.weight_gradient, eager.weight_gradient);
  EXPECT_EQ(compiled.residual_gradient, eager.residual_gradient);
  EXPECT_EQ(compiled.running_mean, eager.running_mean);
}

TEST(BatchNormFusion, ResidualAndReluInEitherOrder) {
  const Body bodies[] = {
      [](BatchNorm2d& layer, const Tensor& x, const Tensor& r) { return relu(layer(x) + r); },
      [](BatchNorm2d& layer, const Tensor& x, const Tensor& r) { return relu(r + layer(x)); },
      [](BatchNorm2d& layer, const Tensor& x, const Tensor&) { return relu(layer(x)); },
      [](BatchNorm2d& layer, const Tensor& x, const Tensor& r) { return layer(x) + r; }};
  for (const Body& body : bodies) {
    const Outcome compiled = run(body, {4, 3, 2, 5}, true);
    expect_same(compiled, run(body, {4, 3, 2, 5}, false));
    EXPECT_EQ(count(compiled, "batch_norm"), 1);
    EXPECT_EQ(count(compiled, "batch_norm_gradient"), 1);
    for (const char* fused : {"add", "relu", "relu_gradient", "pointwise_chain"})
      EXPECT_EQ(count(compiled, fused), 0) << fused;
  }
}

/// The other branch is made behind the batch's statistics were read, by a layer of its own.
TEST(BatchNormFusion, BranchesWithALayerEach) {
  auto second = std::make_shared<BatchNorm2d>(3);
  const Body body = [&](BatchNorm2d& layer, const Tensor& x, const Tensor& r) {
    second->zero_grad();
    const Tensor one = layer(x), other = (*second)(r);
    return relu(one + other);
  };
  const Outcome compiled = run(body, {4, 3, 2, 5}, true);
  second = std::make_shared<BatchNorm2d>(3);
  expect_same(compiled, run(body, {4, 3, 2, 5}, false));
  EXPECT_EQ(count(compiled, "batch_norm"), 2);
  for (const char* fused : {"add", "relu", "pointwise_chain"}) EXPECT_EQ(count(compiled, fused), 0) << fused;
}

TEST(BatchNormFusion, InEvaluation) {
  const Body body = [](BatchNorm2d& layer, const Tensor& x, const Tensor& r) { return relu(r + layer(x)); };
  const Outcome compiled = run(body, {4, 3, 2, 5}, true, false);
  expect_same(compiled, run(body, {4, 3, 2, 5}, false, false));
  EXPECT_EQ(count(compiled, "batch_norm_inference"), 1);
  EXPECT_EQ(count(compiled, "relu"), 0);
}

TEST(BatchNormFusion, NotWithWhatIsBroadcastOrReadElsewhere) {
  const std::pair<Body, Shape> bodies[] = {
      {[](BatchNorm2d& layer, const Tensor& x, const Tensor& r) { return layer(x) + r; }, {2, 1}},
      {[](BatchNorm2d& layer, const Tensor& x, const Tensor& r) {
         const Tensor y = layer(x);
         return relu(y + r) * y;
       },
       {4, 3, 2, 5}},
      {[](BatchNorm2d& layer, const Tensor& x, const Tensor&) {
         const Tensor y = layer(x);
         return y + y;
       },
       {4, 3, 2, 5}}};
  for (const auto& [body, shape] : bodies) {
    const Outcome compiled = run(body, shape, true);
    expect_same(compiled, run(body, shape, false));
    EXPECT_GE(count(compiled, "add") + count(compiled, "pointwise_chain"), 1);
  }
}

/// A sum that does not fit is left alone, and nothing else with it.
TEST(BatchNormFusion, OthersAreFusedBesideOneThatDoesNotFit) {
  auto second = std::make_shared<BatchNorm2d>(3);
  const Body body = [&](BatchNorm2d& layer, const Tensor& x, const Tensor& r) {
    second->zero_grad();
    return (layer(x) + r) * relu((*second)(x));
  };
  const Outcome compiled = run(body, {2, 1}, true);
  second = std::make_shared<BatchNorm2d>(3);
  expect_same(compiled, run(body, {2, 1}, false));
  for (const char* fused : {"relu", "relu_gradient"}) EXPECT_EQ(count(compiled, fused), 0) << fused;
  EXPECT_EQ(compiled.fusions, std::vector<std::string>{"batch_norm + relu → batch_norm"});
}

/// Gradients of what a layer normalises and of a bias before it, after body(layer, x, bias).
struct BiasOutcome {
  std::vector<float> x, bias;
  std::vector<std::string> fusions;
};

BiasOutcome run_with_bias(const Body& body, const Shape& bias_shape, bool compiled) {
  BatchNorm2d layer(3);
  Tensor x = random_tensor({4, 3, 2, 5}, 1), bias = random_tensor(bias_shape, 2);
  const Tensor probe = random_tensor(x.shape(), 3);
  x.set_requires_grad(), bias.set_requires_grad();
  auto step = [&](std::span<const Tensor>) {
    const Tensor y = body(layer, x, bias);
    sum(y * probe).backward();
    return std::vector{y};
  };
  CompiledFunction function(step, kDeclared);
  compiled ? function({}) : step({});
  BiasOutcome outcome{x.grad().to_vector<float>(), bias.grad().to_vector<float>(), {}};
  if (compiled) outcome.fusions = function.programs().back().program->fusions;
  return outcome;
}

const char* const kWithSum = "batch_norm_gradient + sum → batch_norm_gradient";

/// The sum is 0 but for roundings: one for each of 40 elements of at most 4, whose own are as many.
TEST(BatchNormFusion, SumForABiasBefore) {
  const Tensor w = random_tensor({3, 3, 1, 1}, 4);
  const Body bodies[] = {
      [&](BatchNorm2d& layer, const Tensor& x, const Tensor& b) { return layer(conv2d(x, w, b)); },
      [&](BatchNorm2d& layer, const Tensor& x, const Tensor& b) { return relu(layer(conv2d(x, w, b)) + x); }};
  for (const Body& body : bodies) {
    const BiasOutcome compiled = run_with_bias(body, {3}, true), eager = run_with_bias(body, {3}, false);
    EXPECT_EQ(std::count(compiled.fusions.begin(), compiled.fusions.end(), kWithSum), 1);
    EXPECT_EQ(compiled.x, eager.x);
    ASSERT_EQ(compiled.bias.size(), 3u);
    for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(compiled.bias[c], eager.bias[c], 2 * 40 * 40 * 4 * 0x1p-24);
  }
}

TEST(BatchNormFusion, NoOtherSums) {
  const Body body = [](BatchNorm2d& layer, const Tensor& x, const Tensor& b) { return layer(x + b); };
  for (const Shape& shape : {Shape{2, 5}, Shape{3, 1, 1}, Shape{4, 1, 1, 1}}) {
    const BiasOutcome compiled = run_with_bias(body, shape, true), eager = run_with_bias(body, shape, false);
    EXPECT_EQ(std::count(compiled.fusions.begin(), compiled.fusions.end(), kWithSum), 0);
    EXPECT_EQ(compiled.x, eager.x);
    EXPECT_EQ(compiled.bias, eager.bias);
  }
}

/// What is added is written between the normalisation and the sum: the sum reads it as it is then.
TEST(BatchNormFusion, NotOverAWriteInBetween) {
  const Body body = [](BatchNorm2d& layer, const Tensor& x, const Tensor& r) {
    const Tensor moving = r.detach() * 1;
    const Tensor y = layer(x);
    fill_(moving, 2);
    return relu(y + moving);
  };
  expect_same(run(body, {4, 3, 2, 5}, true), run(body, {4, 3, 2, 5}, false));
}

}  // namespace
}  // namespace treadle
