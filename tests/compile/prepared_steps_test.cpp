/// Steps that depend on captured tensors alone run once, and again where one has changed; batch normalisation
/// is folded into the filters before it by such a step.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "tests/compile/names_of_steps.h"
#include "tests/compile/options.h"
#include "tests/random_tensor.h"
#include "treadle/compile/compile.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/run_hook.h"
#include "treadle/models/model.h"
#include "treadle/nn/batch_norm.h"
#include "treadle/nn/conv2d.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pool2d/max_pool2d.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

/// How often a replay ran each op.
std::map<std::string, int> ops_run_by(const std::function<void()>& call) {
  std::map<std::string, int> ops;
  const ObserveRuns observed([&](const VariantRun& run, double) { ++ops[run.op.name]; });
  call();
  return ops;
}

const ProgramStep& step_of(const CompiledFunction& function, const std::string& op) {
  for (const ProgramStep& step : function.programs().back().program->steps)
    if (step.op->name == op) return step;
  throw std::out_of_range(op);
}

TEST(PreparedSteps, RunAgainWhereACapturedTensorHasChanged) {
  const NoGrad no_grad;
  const Tensor a = full({3, 3}, 2), x = full({3, 3}, 1);
  CompiledFunction f(
      [&](std::span<const Tensor> in) { return std::vector{matmul(in[0], exp(matmul(a, a)))}; },
      CompileOptions{.measure = false, .fuse = false});
  auto call = [&] { return f({&x, 1})[0].to_vector<float>(); };
  const auto first = call();
  EXPECT_TRUE(step_of(f, "exp").prepared);
  EXPECT_EQ(call(), first);
  EXPECT_EQ(ops_run_by([&] { call(); }), (std::map<std::string, int>{{"matmul", 1}}))
      << "exp and its product stay";
  fill_(a, 1);
  const auto changed = call();
  EXPECT_NE(changed, first);
  EXPECT_EQ(changed, (matmul(x, exp(matmul(a, a))).to_vector<float>()));
  EXPECT_EQ(call(), changed);
  EXPECT_EQ(ops_run_by([&] { call(); }), (std::map<std::string, int>{{"matmul", 1}}));
}

TEST(PreparedSteps, TakeNoTimeOfAReplay) {
  const NoGrad no_grad;
  const Tensor a = full({3, 3}, 2), x = full({3, 3}, 1);
  CompiledFunction f(
      [&](std::span<const Tensor> in) { return std::vector{matmul(in[0], exp(matmul(a, a)))}; },
      CompileOptions{.measure = false, .fuse = false});
  const StepTimes times = f.time_steps({&x, 1}, 3);
  ASSERT_EQ(times.seconds.size(), 3u);
  EXPECT_EQ(times.seconds[0], 0);
  EXPECT_EQ(times.seconds[1], 0);
  EXPECT_GT(times.seconds[2], 0);
  EXPECT_LT(times.seconds[2], 1e9);
}

TEST(PreparedSteps, NotOfArgumentsOrOfWhatTheProgramWrites) {
  const NoGrad no_grad;
  const Tensor a = full({3}, 2), x = full({3}, 1);
  CompiledFunction f(
      [&](std::span<const Tensor> in) {
        const Tensor of_argument = exp(in[0]), of_written = log(a);
        copy_into(a, in[0] + 1);
        return std::vector{of_argument + of_written};
      },
      CompileOptions{.measure = false, .fuse = false});
  for (int i = 0; i < 3; ++i) {
    const float before = a.to_vector<float>()[0];
    EXPECT_FLOAT_EQ(f({&x, 1})[0].to_vector<float>()[0], std::exp(1.f) + std::log(before));
  }
  EXPECT_FALSE(step_of(f, "exp").prepared);
  EXPECT_FALSE(step_of(f, "log").prepared);
}

struct Network {
  Conv2d conv{3, 5, 3, {.padding = 1}};
  BatchNorm2d norm{5};
  Tensor x = random_tensor({2, 3, 6, 7}, 1), residual = random_tensor({2, 5, 6, 7}, 2);

  Network() {
    Generator generator(3);
    for (const Tensor& t : {norm.weight, norm.bias, norm.running_mean, norm.running_var})
      copy_into(t.detach(), rand(t.shape(), DType::f32, kCpu, generator) + 0.5);
    norm.eval();
  }
};

using Body = std::function<Tensor(Network& network)>;

/// Filters and pixels are below 1 and the factors of batch normalisation below 3: of 27 terms, and as many
/// roundings more as folding makes, 3·(27 + 8)·2^-24·(27 terms' sum) is a bound.
constexpr double kFolded = 3 * 35 * 27 * 0x1p-24;

void expect_folded(const Body& body, const std::vector<std::string>& steps) {
  const NoGrad no_grad;
  Network network;
  CompiledFunction f([&](std::span<const Tensor>) { return std::vector{body(network)}; }, kDeclared);
  for (int i = 0; i < 4; ++i) {
    if (i == 2) fill_(network.norm.running_mean, 0.25);  // it is folded again
    const auto wanted = body(network).to_doubles(), found = f({})[0].to_doubles();
    for (size_t k = 0; k < wanted.size(); ++k) ASSERT_NEAR(found[k], wanted[k], kFolded) << i;
  }
  EXPECT_EQ(names_of_steps(*f.programs().back().program), steps);
}

TEST(BatchNormFolding, IntoTheConvolutionWithWhatFollows) {
  expect_folded([](Network& n) { return n.norm(n.conv(n.x)); }, {"fold_batch_norm", "conv2d"});
  expect_folded([](Network& n) { return relu(n.norm(n.conv(n.x))); }, {"fold_batch_norm", "conv2d_relu"});
  expect_folded([](Network& n) { return n.residual + n.norm(n.conv(n.x)); },
                {"fold_batch_norm", "conv2d", "add"});
  expect_folded([](Network& n) { return relu(n.norm(n.conv(n.x)) + n.residual); },
                {"fold_batch_norm", "conv2d", "pointwise_chain"});
}

TEST(BatchNormFolding, AndWithThePoolingBehind) {
  expect_folded([](Network& n) { return max_pool2d(relu(n.norm(n.conv(n.x))), {.kernel = 2}); },
                {"fold_batch_norm", "conv2d_max_pool2d"});
  expect_folded(
      [](Network& n) {
        return max_pool2d(relu(n.norm(n.conv(n.x))), {.kernel = 3, .stride = 1, .padding = 1});
      },
      {"fold_batch_norm", "conv2d_max_pool2d"});
  expect_folded(
      [](Network& n) { return max_pool2d(relu(n.norm(n.conv(n.x))), {.kernel = 2, .dilation = 2}); },
      {"fold_batch_norm", "conv2d_relu", "max_pool2d"});
}

TEST(BatchNormFolding, NotWhereTheConvolutionIsReadElsewhere) {
  expect_folded(
      [](Network& n) {
        const Tensor y = n.conv(n.x);
        return n.norm(y) * y;
      },
      {"conv2d", "batch_norm_inference", "mul"});
}

TEST(BatchNormFolding, NotInTraining) {
  Network network;
  network.norm.train();
  CompiledFunction f(
      [&](std::span<const Tensor>) { return std::vector{network.norm(network.conv(network.x))}; }, kDeclared);
  f({});
  EXPECT_EQ(names_of_steps(*f.programs().back().program),
            (std::vector<std::string>{"conv2d", "batch_norm", "batch_statistics"}));
}

/// Evaluation follows training: what was folded is made of the weights as they are.
TEST(BatchNormFolding, FollowsTraining) {
  const auto model = make_model("mnist_resnet", 1);
  const Tensor images = random_tensor({4, 1, 28, 28}, 5);
  auto forward = compile([&](Tensor x) { return (*model)(x); }, kDeclared);
  for (int round = 0; round < 3; ++round) {
    model->train();
    const NoGrad no_grad;
    (*model)(images + round);
    model->eval();
    const auto wanted = (*model)(images).to_doubles(), found = forward(images).to_doubles();
    double largest = 0;
    for (double value : wanted) largest = std::max(largest, std::abs(value));
    // Seven layers of up to 3,136 terms, each rounded otherwise.
    for (size_t k = 0; k < wanted.size(); ++k) ASSERT_NEAR(found[k], wanted[k], 7 * 3136 * 0x1p-24 * largest);
  }
  int folded = 0;
  for (const std::string& name : names_of_steps(*forward.programs().back().program)) {
    folded += name == "fold_batch_norm";
    EXPECT_NE(name, "batch_norm_inference");
  }
  EXPECT_EQ(folded, 6);
}

}  // namespace
}  // namespace treadle
