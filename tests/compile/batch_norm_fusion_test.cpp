/// Batch normalisation with a residual and ReLU in programs: one step each way, and the same numbers.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/compile/names_of_steps.h"
#include "tests/compile/options.h"
#include "tests/random_tensor.h"
#include "treadle/compile/compile.h"
#include "treadle/nn/batch_norm.h"
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
