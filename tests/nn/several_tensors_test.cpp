/// Modules that take or give several tensors: alone, in a sequence, observed, summed up and compiled.
#include <gtest/gtest.h>

#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/nn/activation.h"
#include "treadle/nn/linear.h"
#include "treadle/nn/sequential.h"
#include "treadle/nn/summary.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

using Tensors = std::vector<Tensor>;

std::vector<float> values_of(const Tensor& tensor) { return tensor.to_vector<float>(); }

/// (x, y) → x + y.
class Sum final : public Module {
 public:
  std::string describe() const override { return "Sum"; }
  int64_t multiply_adds(std::span<const Shape> inputs, std::span<const Shape> outputs) const override {
    return int64_t(inputs.size()) * outputs[0].numel();
  }

 protected:
  Tensors forward_all(std::span<const Tensor> inputs) override { return {inputs[0] + inputs[1]}; }
};

/// x → (w x, -x), of which the first has a gradient for w.
class Fork final : public Module {
 public:
  Fork() : layer(register_module("layer", std::make_shared<Linear>(3, 3))) {}
  std::string describe() const override { return "Fork"; }

  std::shared_ptr<Linear> layer;

 protected:
  Tensors forward_all(std::span<const Tensor> inputs) override {
    return {(*layer)(inputs[0]), neg(inputs[0])};
  }
};

class Nothing final : public Module {
 public:
  std::string describe() const override { return "Nothing"; }
};

TEST(SeveralTensors, ComeInByOperatorAndByCall) {
  Sum sum_of;
  const Tensor x = rand({2, 3}), y = rand({2, 3});
  const Tensor inputs[] = {x, y};
  EXPECT_EQ(values_of(sum_of(x, y)), values_of(x + y));
  ASSERT_EQ(sum_of.call(inputs).size(), 1u);
  EXPECT_EQ(values_of(sum_of.call(inputs)[0]), values_of(x + y));
}

TEST(SeveralTensors, ComeOutByCall) {
  Fork fork;
  const Tensor x = rand({2, 3});
  const Tensors outputs = fork.call({&x, 1});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(values_of(outputs[1]), values_of(neg(x)));
  EXPECT_THROW(fork(x), ValueError);
}

TEST(SeveralTensors, AModuleOfOneIsCalledEitherWay) {
  Linear layer(3, 2);
  const Tensor x = rand({2, 3}), two[] = {x, x};
  ASSERT_EQ(layer.call({&x, 1}).size(), 1u);
  EXPECT_EQ(values_of(layer.call({&x, 1})[0]), values_of(layer(x)));
  EXPECT_THROW(layer.call(two), ValueError);
  EXPECT_THROW(layer.call({}), ValueError);
  EXPECT_THROW(layer(x, x), ValueError);
}

TEST(SeveralTensors, AModuleWithoutForwardSaysSo) {
  Nothing nothing;
  const Tensor x = rand({2});
  EXPECT_THROW(nothing(x), Error);
  EXPECT_THROW(nothing.call({&x, 1}), Error);
}

TEST(SeveralTensors, GoThroughASequence) {
  auto fork = std::make_shared<Fork>();
  Sequential layers({fork, std::make_shared<Sum>(), std::make_shared<ReLU>()});
  const Tensor x = rand({2, 3});
  const Tensor y = layers(x);
  EXPECT_EQ(values_of(y), values_of(relu((*fork->layer)(x) + neg(x))));
  sum(y).backward();
  EXPECT_TRUE(fork->layer->weight.grad().defined());
  Sequential open({fork});
  EXPECT_EQ(open.call({&x, 1}).size(), 2u);
}

TEST(SeveralTensors, AreSeenByObservers) {
  Sequential layers({std::make_shared<Fork>(), std::make_shared<Sum>()});
  std::vector<std::string> seen;
  ObserveModules observe([&](const Module& module, std::span<const Tensor> in, std::span<const Tensor> out) {
    seen.push_back(fmt::format("{} {} {}", module.describe(), in.size(), out.size()));
  });
  layers(rand({2, 3}));
  EXPECT_EQ(seen,
            (std::vector<std::string>{"Sequential 1 0", "Fork 1 0", "Linear(3, 3) 1 0", "Linear(3, 3) 1 1",
                                      "Fork 1 2", "Sum 2 0", "Sum 2 1", "Sequential 1 1"}));
}

TEST(SeveralTensors, AreSummedUp) {
  Sequential layers({std::make_shared<Fork>(), std::make_shared<Sum>()});
  const ModelSummary summary = summarize(layers, {2, 3});
  ASSERT_EQ(summary.layers.size(), 4u);
  EXPECT_EQ(summary.layers[1].outputs, (std::vector{Shape{2, 3}, Shape{2, 3}}));
  EXPECT_EQ(summary.layers[3].inputs, summary.layers[1].outputs);
  EXPECT_EQ(summary.multiply_adds, 2 * 3 * 3 + 2 * 6);
  EXPECT_EQ(summary.activation_bytes, 4 * (6 + 6));
  Sum both;
  const Tensor inputs[] = {rand({2, 3}), rand({2, 3})};
  EXPECT_EQ(summarize(both, inputs).input_bytes, 48);
}

TEST(SeveralTensors, AreCompiled) {
  Fork fork;
  // Of the variants that eager calls take: others round in other ways.
  auto step = compile(
      [&](const Tensor& x) {
        const Tensors outputs = fork.call({&x, 1});
        return std::pair(outputs[0], outputs[1]);
      },
      {.measure = false});
  for (int call = 0; call < 3; ++call) {
    const Tensor x = rand({2, 3});
    const Tensors eager = fork.call({&x, 1});
    const auto [first, second] = step(x);
    EXPECT_EQ(values_of(first), values_of(eager[0]));
    EXPECT_EQ(values_of(second), values_of(eager[1]));
  }
}

}  // namespace
}  // namespace treadle
