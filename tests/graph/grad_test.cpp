/// grad(): gradients of any tensors, and gradients of gradients.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/random_tensor.h"
#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/run_hook.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/norm/batch_norm.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

Tensor number(double value) { return Tensor::from(std::vector<double>{value}, {}).set_requires_grad(); }

Tensor parameter(const Shape& shape, uint64_t seed) {
  return random_tensor(shape, seed, kCpu, DType::f64).set_requires_grad();
}

TEST(Grad, IsReturnedAndLeavesKeepTheirs) {
  const Tensor x = number(3);
  int hooks = 0;
  register_gradient_hook(x, [&](const Tensor&) { ++hooks; });
  EXPECT_EQ(grad({x * x}, {x})[0].item(), 6);
  EXPECT_FALSE(x.grad().defined());
  EXPECT_EQ(hooks, 0);
}

TEST(Grad, OfTensorsInBetweenAndOfTheOutputItself) {
  const Tensor x = number(3), y = x * x, z = y * y;
  const auto gradients = grad({z}, {y, z, x}, {.retain_graph = true});
  EXPECT_EQ(gradients[0].item(), 18);
  EXPECT_EQ(gradients[1].item(), 1);
  EXPECT_EQ(gradients[2].item(), 108);
}

TEST(Grad, OfAnOutputThatIsNotTheFirst) {
  const BatchNormResult batch = batch_norm(parameter({4, 1}, 1));
  const Tensor y = sum(batch.variance * batch.variance * batch.mean);
  const auto gradients = grad({y}, {batch.mean, batch.variance});
  const double mean = batch.mean.item(), variance = batch.variance.item();
  EXPECT_NEAR(gradients[0].item(), variance * variance, 1e-15);
  EXPECT_NEAR(gradients[1].item(), 2 * variance * mean, 1e-15);
}

TEST(Grad, OfOneTensorTwiceIsTheSame) {
  const Tensor x = number(3);
  const auto gradients = grad({x * x}, {x, x});
  EXPECT_EQ(gradients[0].item(), 6);
  EXPECT_EQ(gradients[1].item(), 6);
}

TEST(Grad, OfSeveralOutputsIsTheirSum) {
  const Tensor x = number(3), one = number(2);
  EXPECT_EQ(grad({x * x, x * 5.0, x}, {x}, {.upstream = {one, {}, one}})[0].item(), 2 * 6 + 5 + 2);
}

/// What lies behind the inputs is not visited: it may be freed.
TEST(Grad, WhatLeadsToNoInputIsNotComputed) {
  const Tensor x = number(3), y = x * x;
  y.backward();
  EXPECT_EQ(grad({y * y}, {y})[0].item(), 18);
  const Tensor freed = x * x;
  freed.backward();
  EXPECT_EQ(grad({y * 2.0 + freed}, {y})[0].item(), 2);
}

TEST(Grad, LeavesOutTheGradientsOfOthers) {
  const Tensor x = parameter({2, 3}, 1), w = parameter({3, 4}, 2), y = matmul(x, w);
  int products = 0;
  const ObserveRuns observe([&](const VariantRun& run, double) { products += run.op.name == "matmul"; });
  grad({y}, {x}, {.upstream = {parameter({2, 4}, 3)}});
  EXPECT_EQ(products, 1);
}

TEST(Grad, FreesTheGraphUnlessItIsRetained) {
  const Tensor x = number(3), y = x * x;
  grad({y}, {x}, {.retain_graph = true});
  grad({y}, {x}, {.create_graph = true});
  grad({y}, {x});
  expect_refused({refused<AutogradError>("a second time", {"mul", "retain_graph"}, [&] { grad({y}, {x}); })});
}

TEST(Grad, HasAHistoryOnlyWhereItIsAskedFor) {
  const Tensor x = number(3), up = number(1), y = x * 2.0;
  EXPECT_FALSE(grad({x * x}, {x})[0].requires_grad());
  EXPECT_FALSE(grad({y}, {y}, {.upstream = {up}})[0].requires_grad());
  EXPECT_TRUE(grad({x * x}, {x}, {.create_graph = true})[0].requires_grad());
  const Tensor square = y * y;
  const NoGrad no_grad;
  EXPECT_TRUE(grad({square}, {y}, {.create_graph = true})[0].requires_grad());
  EXPECT_FALSE(gradient_mode());
}

TEST(Grad, NamesWhatDoesNotFit) {
  const Tensor x = number(3), other = number(1), plain = Tensor::from(std::vector<double>{1}, {}),
               wide = parameter({3}, 1), y = wide * 2.0;
  expect_refused({
      refused<AutogradError>("an input without gradient", {"input 2"},
                             [&] {
                               grad({x * x}, {x, plain});
                             }),
      refused<AutogradError>("an undefined input", {"input 1"}, [&] { grad({x * x}, {Tensor()}); }),
      refused<AutogradError>("an output without gradient", {"grad()"}, [&] { grad({plain}, {x}); }),
      refused<ValueError>("an undefined output", {"output 1"}, [&] { grad({Tensor()}, {x}); }),
      refused<AutogradError>("unused", {"input 2", "allow_unused"},
                             [&] {
                               grad({x * x}, {x, other});
                             }),
      refused<ShapeError>("no upstream", {"grad()", "[3]"}, [&] { grad({y}, {wide}); }),
      refused<ShapeError>("another shape", {"[3]", "[]"}, [&] { grad({y}, {wide}, {.upstream = {x}}); }),
      refused<ValueError>("upstreams", {"2 upstream", "1 outputs"},
                          [&] {
                            grad({y}, {wide}, {.upstream = {y, y}});
                          }),
  });
  EXPECT_FALSE(grad({x * x}, {other}, {.allow_unused = true})[0].defined());
}

TEST(Grad, CanBeTakenAgainAndAgain) {
  const Tensor x = number(0.3);
  Tensor y = tanh(x);
  const double t = std::tanh(0.3), s = 1 - t * t,
               wanted[] = {s, -2 * t * s, s * (6 * t * t - 2), 8 * t * s * (2 - 3 * t * t)};
  for (double value : wanted) {
    y = grad({y}, {x}, {.create_graph = true})[0];
    EXPECT_NEAR(y.item(), value, 1e-14);
  }
}

/// x occurs in the formula of the fused gradient and in what it is applied to.
TEST(Grad, AFusedGradientsFormulaStopsAtItsOperands) {
  const Tensor x = number(0.7);
  const Tensor first = grad({sigmoid(sigmoid(x))}, {x}, {.create_graph = true})[0];
  auto slope = [](double v) {
    const double a = 1 / (1 + std::exp(-v)), b = 1 / (1 + std::exp(-a));
    return a * (1 - a) * b * (1 - b);
  };
  EXPECT_NEAR(grad({first}, {x})[0].item(), (slope(0.7 + 1e-6) - slope(0.7 - 1e-6)) / 2e-6, 1e-9);
}

TEST(Grad, FarFromZeroSecondDerivativesAreZeroAndNotNaN) {
  for (auto f : {+[](const Tensor& x) { return elu(x); }, +[](const Tensor& x) { return softplus(x); },
                 +[](const Tensor& x) { return silu(x); }, +[](const Tensor& x) { return log_sigmoid(x); },
                 +[](const Tensor& x) { return mish(x); }, +[](const Tensor& x) { return gelu(x); },
                 +[](const Tensor& x) { return sigmoid(x); }, +[](const Tensor& x) { return tanh(x); }})
    for (float value : {-800.f, 800.f}) {
      const Tensor x = Tensor::from({value}, {1}).set_requires_grad();
      EXPECT_EQ(grad({grad({f(x)}, {x}, {.create_graph = true})[0]}, {x})[0].item(), 0) << value;
    }
}

TEST(Grad, OfAGradientThatCannotBeDifferentiatedNamesTheOp) {
  const Tensor x = parameter({1, 2, 6, 6}, 1), w = parameter({3, 2, 3, 3}, 2);
  const Tensor y = sum(conv2d_max_pool2d(x, w).y);
  const Tensor again = sum(grad({y}, {x}, {.create_graph = true})[0]);
  expect_refused({refused<AutogradError>("fused", {"conv2d_max_pool2d", "has no gradient"},
                                         [&] { grad({again}, {w}); })});
}

/// H·v of f = Σ (x Aᵀ)³ / 6 is Aᵀ((A x) ⊙ (A v)).
TEST(Grad, HessianVectorProduct) {
  const Tensor x = parameter({1, 4}, 1), a = parameter({3, 4}, 2).detach(), v = parameter({1, 4}, 3).detach();
  const Tensor ax = matmul(x, transpose(a, 0, 1)), f = sum(ax * ax * ax) / 6.0;
  const Tensor g = grad({f}, {x}, {.create_graph = true})[0];
  const auto product = grad({g}, {x}, {.upstream = {v}})[0].to_doubles();
  const auto wanted = matmul(ax.detach() * matmul(v, transpose(a, 0, 1)), a).to_doubles();
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(product[i], wanted[i], 1e-14);
}

/// The loss after one step of gradient descent, differentiated by where the step began.
TEST(Grad, ThroughAStepOfTraining) {
  const Tensor w = parameter({2, 3}, 1), x = parameter({5, 3}, 2).detach(), b = parameter({2}, 4);
  auto loss = [&](const Tensor& weight) { return mean(tanh(matmul(x, transpose(weight, 0, 1)) + b)); };
  auto after_step = [&](const Tensor& weight) {
    return loss(weight - grad({loss(weight)}, {weight}, {.create_graph = true})[0] * 0.5);
  };
  const auto found = grad({after_step(w)}, {w})[0].to_doubles();
  for (int i = 0; i < 6; ++i) {
    auto moved = [&](double distance) {
      auto values = w.to_doubles();
      values[size_t(i)] += distance;
      return after_step(Tensor::from(values, {2, 3}).set_requires_grad()).item();
    };
    EXPECT_NEAR(found[size_t(i)], (moved(1e-5) - moved(-1e-5)) / 2e-5, 1e-9);
  }
}

}  // namespace
}  // namespace treadle
