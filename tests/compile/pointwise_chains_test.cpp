/// Neighbouring pointwise steps become one step, which leaves the bits of the eager calls; and where they
/// must not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "tests/compile/names_of_steps.h"
#include "treadle/compile/compile.h"
#include "treadle/graph/op.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pointwise/pointwise_chain.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

using ChainFunction = std::function<std::vector<Tensor>(const Tensor&)>;
using Names = std::vector<std::string>;

Tensor numbers(const Shape& shape, uint64_t seed = 1, Device device = kCpu, DType dtype = DType::f32) {
  Generator generator(seed);
  return to(cast(rand(shape, DType::f32, kCpu, generator) * 4.0 - 2.0, dtype), device);
}

/// The steps of the program of `function`, which gives the bits of the eager call.
Names steps_of(const ChainFunction& function, const Tensor& x) {
  CompiledFunction compiled([&](std::span<const Tensor> given) { return function(given[0]); },
                            {.measure = false});
  for (int replay = 0; replay < 3; ++replay) {
    const auto wanted = function(x), got = compiled({&x, 1});
    for (size_t k = 0; k < wanted.size(); ++k) {
      const auto a = wanted[k].to_doubles(), b = got[k].to_doubles();
      EXPECT_EQ(wanted[k].strides(), got[k].strides());
      EXPECT_TRUE(a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0)
          << "result " << k << ", replay " << replay;
    }
  }
  return names_of_steps(*compiled.programs()[0].program);
}

const Names kOneChain{"pointwise_chain"};

/// x·(1 + tanh(√(2/π)(x + 0.044715x³)))/2: x is read four times, results in between twice.
Tensor gelu_by_parts(const Tensor& x) {
  return 0.5 * x * (1.0 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

TEST(PointwiseChains, OneStepForAnExpression) {
  for (Device device : {kCpu, kSimt})
    for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16})
      EXPECT_EQ(steps_of([](const Tensor& x) { return std::vector{gelu_by_parts(x)}; },
                         numbers({7, 311}, 1, device, dtype)),
                kOneChain)
          << to_string(device) << " " << name_of(dtype);
}

TEST(PointwiseChains, OfEveryKindOfOp) {
  const ChainFunction function = [](const Tensor& x) {
    const Tensor y = leaky_relu(x, 0.25) - softplus(x, 2);
    return std::vector{where(greater(y, 0), clamp(y, -0.5, 0.75), maximum(-x, y) / 3.0)};
  };
  for (Device device : {kCpu, kSimt})
    EXPECT_EQ(steps_of(function, numbers({3, 2, 4, 5}, 2, device)), kOneChain) << to_string(device);
}

TEST(PointwiseChains, InTheLayoutOfTheImages) {
  const Tensor bias = numbers({3, 1, 1});
  const Tensor images = to_channels_last(numbers({2, 3, 5, 7}));
  EXPECT_EQ(steps_of([&](const Tensor& x) { return std::vector{silu(x + bias)}; }, images), kOneChain);
}

TEST(PointwiseChains, OfGradients) {
  Tensor leaf = numbers({5, 40}, 4).set_requires_grad();
  const Tensor dy = numbers({5, 40}, 3);
  const ChainFunction function = [&](const Tensor& x) {
    leaf.set_grad({});
    gelu_by_parts(leaf * x).backward(dy);
    return std::vector{leaf.grad()};
  };
  const auto steps = steps_of(function, numbers({5, 40}));
  EXPECT_LT(steps.size(), 12u) << testing::PrintToString(steps);
  EXPECT_EQ(steps.back(), "pointwise_chain");
}

TEST(PointwiseChains, NotWhatIsReturnedOrReadElsewhere) {
  const auto returned = steps_of(
      [](const Tensor& x) {
        const Tensor y = exp(x);
        return std::vector{y, neg(y)};
      },
      numbers({50}));
  EXPECT_EQ(returned, (Names{"exp", "neg"}));
  const auto summed = steps_of(
      [](const Tensor& x) {
        const Tensor y = exp(x);
        return std::vector{sum(y), neg(y)};
      },
      numbers({50}));
  EXPECT_EQ(summed.size(), 3u);
}

TEST(PointwiseChains, NothingIsComputedTwice) {
  const Tensor row = numbers({1, 40}, 2);
  const auto steps = steps_of([&](const Tensor& x) { return std::vector{x + exp(row)}; }, numbers({30, 40}));
  EXPECT_EQ(steps, (Names{"exp", "add"}));
}

TEST(PointwiseChains, NotAcrossAWriteIntoAnOperand) {
  const ChainFunction function = [](const Tensor& x) {
    Tensor memory = clone(x);
    const Tensor y = exp(memory);
    copy_into(memory, x + 1.0);
    return std::vector{y * memory};
  };
  const auto steps = steps_of(function, numbers({50}));
  EXPECT_EQ(std::count(steps.begin(), steps.end(), "exp"), 1);
}

TEST(PointwiseChains, NotWhereAVariantIsNamed) {
  settings().variants["exp"] = "loop";
  const auto steps = steps_of([](const Tensor& x) { return std::vector{neg(exp(x))}; }, numbers({50}));
  settings().variants.clear();
  EXPECT_EQ(steps, (Names{"exp", "neg"}));
}

TEST(PointwiseChains, NotOfIntegers) {
  const Tensor x = Tensor::from(std::vector<int64_t>{1, -2, 3}, {3});
  EXPECT_EQ(steps_of([](const Tensor& x) { return std::vector{neg(x * x)}; }, x), (Names{"mul", "neg"}));
}

/// A kernel's arguments hold so many steps and inputs: longer expressions are several chains.
TEST(PointwiseChains, LongOnesAreSeveral) {
  const ChainFunction function = [](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < 40; ++i) y = y * (1.0 - i / 64.0) + 0.125;
    return std::vector{y};
  };
  const auto steps = steps_of(function, numbers({300}));
  EXPECT_GT(steps.size(), 2u);
  EXPECT_LT(steps.size(), 14u);
  EXPECT_EQ(std::count(steps.begin(), steps.end(), "pointwise_chain"), int64_t(steps.size()));
}

TEST(PointwiseChains, TextGivesTheChainAgain) {
  const std::string text = "mul(x0, x1); clamp(t0, low=-0.25, high=0.1); where(x2, t1, t0)";
  const PointwiseChain chain = PointwiseChain::parse(text);
  EXPECT_EQ(chain.text(), text);
  EXPECT_EQ(chain.inputs(), 3);
  EXPECT_EQ(chain.slot_count(), 3);
  for (const char* wrong :
       {"mul", "mul(x0", "mul(x0, y)", "neg(t0)", "neg(t1); neg(x0)", "clamp(x0, low=a)", "nothing(x0)"})
    EXPECT_ANY_THROW(PointwiseChain::parse(wrong)) << wrong;
}

}  // namespace
}  // namespace treadle
