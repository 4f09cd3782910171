/// LossScaler: steps that it leaves out are left out as a whole, eager and in replays.
#include "treadle/optim/loss_scaler.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/compile/options.h"
#include "tests/random_tensor.h"
#include "tests/refused.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/graph/autocast.h"
#include "treadle/graph/autograd.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/optim/clip_gradients.h"
#include "treadle/optim/sgd/sgd.h"

namespace treadle {
namespace {

constexpr LossScalerOptions kOptions{.initial = 8, .interval = 2};

/// Two parameters, whose gradients are the argument and its double.
struct World {
  Tensor w = random_tensor({3, 4}, 1).detach().set_requires_grad();
  Tensor v = random_tensor({3, 4}, 2).detach().set_requires_grad();
  std::unique_ptr<Optimizer> optimizer;
  LossScaler scaler{kOptions};
  double clip = 0;

  explicit World(const std::string& rule) : optimizer(make_optimizer(rule, {{"w", w}, {"v", v}}, 0.1)) {}

  Tensor train(const Tensor& slope) {
    optimizer->zero_grad();
    const Tensor loss = sum(w * slope) + sum(v * slope) * 2.0;
    scaler.scale(loss).backward();
    if (clip > 0) {
      scaler.unscale(*optimizer);
      clip_gradient_norm(optimizer->parameters(), clip);
    }
    scaler.step(*optimizer);
    scaler.update();
    return loss;
  }

  std::vector<double> numbers() const {
    std::vector<double> all = w.to_doubles();
    for (double x : v.to_doubles()) all.push_back(x);
    for (const NamedTensor& kept : optimizer->state())
      for (double x : kept.tensor.to_doubles()) all.push_back(x);
    return all;
  }
};

Tensor slope(int step, float planted = 0) {
  std::vector<float> values = random_tensor({3, 4}, uint64_t(100 + step)).to_vector<float>();
  if (planted != 0) values[7] = planted;
  return Tensor::from(values, {3, 4});
}

class LossScalerRules : public testing::TestWithParam<std::string> {};

/// Steps with gradients that are no numbers between others: as if these alone had been made.
TEST_P(LossScalerRules, LeavesStepsOut) {
  World plain(GetParam()), eager(GetParam()), compiled(GetParam());
  auto program = compile([&](Tensor x) { return compiled.train(x); }, kUnfused);
  const float planted[] = {INFINITY, 0, 0, 0, NAN, -INFINITY, 0, 0};
  const double factors[] = {4, 4, 8, 8, 4, 2, 2, 4};
  for (int t = 0; t < 8; ++t) {
    const Tensor x = slope(t, planted[t]);
    eager.train(x);
    program(x);
    if (planted[t] == 0) {
      plain.optimizer->zero_grad();
      (sum(plain.w * x) + sum(plain.v * x) * 2.0).backward();
      plain.optimizer->step();
    }
    EXPECT_EQ(eager.numbers(), plain.numbers()) << t;
    EXPECT_EQ(compiled.numbers(), plain.numbers()) << t;
    EXPECT_EQ(eager.scaler.factor(), factors[t]) << t;
    EXPECT_EQ(compiled.scaler.factor(), factors[t]) << t;
  }
  EXPECT_EQ(eager.scaler.skipped_steps(), 3);
  EXPECT_EQ(compiled.scaler.skipped_steps(), 3);
  EXPECT_EQ(program.programs().size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(All, LossScalerRules, testing::ValuesIn(known_optimizers()),
                         [](const auto& info) { return info.param; });

TEST(LossScaler, AScheduleStaysWhereItWas) {
  for (bool compiled : {false, true}) {
    World world("sgd");
    world.optimizer->set_schedule(Schedule::named("cosine", 1, {.total_steps = 4}));
    auto program = compile([&](Tensor x) { return world.train(x); }, kDeclared);
    auto step = [&](const Tensor& x) { compiled ? program(x) : world.train(x); };
    step(slope(0));
    step(slope(1));
    const double rate = world.optimizer->learning_rate();
    step(slope(2, INFINITY));
    EXPECT_EQ(world.optimizer->learning_rate(), rate) << compiled;
    EXPECT_EQ(world.optimizer->step_count(), 2) << compiled;
    step(slope(3));
    EXPECT_LT(world.optimizer->learning_rate(), rate) << compiled;
  }
}

/// The bound is one of the gradients as they are without a factor.
TEST(LossScaler, ClippingSeesUnscaledGradients) {
  for (bool compiled : {false, true}) {
    World world("sgd");
    world.clip = 0.5;
    const auto before = world.numbers();
    auto program = compile([&](Tensor x) { return world.train(x); }, kDeclared);
    compiled ? program(slope(0)) : world.train(slope(0));
    const auto after = world.numbers();
    double squares = 0;
    for (size_t i = 0; i < 24; ++i) squares += (after[i] - before[i]) * (after[i] - before[i]);
    EXPECT_NEAR(std::sqrt(squares), 0.1 * 0.5, 1e-6) << compiled;
  }
}

/// Each optimizer's step depends on its own gradients, the factor on all.
TEST(LossScaler, SeveralOptimizers) {
  for (bool compiled : {false, true}) {
    Tensor a = random_tensor({4}, 1).detach().set_requires_grad(),
           b = random_tensor({4}, 2).detach().set_requires_grad();
    Sgd of_a({{"a", a}}, 0.1), of_b({{"b", b}}, 0.1);
    LossScaler scaler(kOptions);
    auto train = [&](const Tensor& x, const Tensor& y) {
      of_a.zero_grad(), of_b.zero_grad();
      const Tensor loss = sum(a * x) + sum(b * y);
      scaler.scale(loss).backward();
      scaler.step(of_a);
      scaler.step(of_b);
      scaler.update();
      return loss;
    };
    auto program = compile([&](Tensor x, Tensor y) { return train(x, y); }, kDeclared);
    const auto a_before = a.to_doubles(), b_before = b.to_doubles();
    const Tensor fine = random_tensor({4}, 3), planted = fine * INFINITY;
    compiled ? program(fine, planted) : train(fine, planted);
    EXPECT_NE(a.to_doubles(), a_before) << compiled;
    EXPECT_EQ(b.to_doubles(), b_before) << compiled;
    EXPECT_EQ(of_a.step_count(), 1) << compiled;
    EXPECT_EQ(of_b.step_count(), 0) << compiled;
    EXPECT_EQ(scaler.factor(), 4) << compiled;
  }
}

/// What vanishes in f16 without a factor.
TEST(LossScaler, KeepsSmallGradients) {
  for (bool scaled : {false, true}) {
    Tensor w = random_tensor({4, 4}, 1).detach().set_requires_grad();
    Sgd optimizer({{"w", w}}, 1);
    LossScaler scaler;
    Tensor loss;
    {
      const Autocast scope(DType::f16);
      loss = sum(matmul(random_tensor({2, 4}, 2), w)) * 0x1p-30;
    }
    (scaled ? scaler.scale(loss) : loss).backward();
    if (scaled) scaler.unscale(optimizer);
    double largest = 0;
    for (double g : w.grad().to_doubles()) largest = std::fmax(largest, std::fabs(g));
    EXPECT_EQ(largest > 0, scaled);
  }
}

TEST(LossScaler, StateGoesOn) {
  World first("adam"), second("adam");
  for (int t = 0; t < 3; ++t) first.train(slope(t, t == 1 ? NAN : 0));
  EXPECT_EQ(first.scaler.good_steps(), 1);
  second.scaler.load_state(first.scaler.state());
  EXPECT_EQ(second.scaler.factor(), 4);
  EXPECT_EQ(second.scaler.good_steps(), 1);
  EXPECT_EQ(second.scaler.skipped_steps(), 1);
  second.train(slope(5));
  EXPECT_EQ(second.scaler.factor(), 8);
}

TEST(LossScaler, LargeGradientsAreFinite) {
  Tensor w = random_tensor({2}, 1).detach().set_requires_grad();
  Sgd optimizer({{"w", w}}, 0);
  LossScaler scaler({.initial = 1});
  w.set_grad(Tensor::from(std::vector<float>{3e38f, 3e38f}, {2}));
  scaler.step(optimizer);
  scaler.update();
  EXPECT_EQ(scaler.skipped_steps(), 0);
}

TEST(LossScaler, FactorsStayNumbersOfF32) {
  Tensor w = random_tensor({3}, 1).detach().set_requires_grad();
  Sgd optimizer({{"w", w}}, 0.1);
  LossScaler scaler({.initial = 0x1p127, .interval = 1});
  w.set_grad(Tensor::zeros({3}));
  scaler.step(optimizer);
  scaler.update();
  EXPECT_EQ(scaler.factor(), 0x1p127);
}

TEST(LossScaler, Refuses) {
  Tensor w = random_tensor({3}, 1).detach().set_requires_grad();
  Tensor h = cast(random_tensor({3}, 1), DType::f16).detach().set_requires_grad();
  Sgd optimizer({{"w", w}}, 0.1), half({{"h", h}}, 0.1);
  h.set_grad(Tensor::zeros({3}, DType::f16));
  LossScaler scaler;
  auto with = [](const LossScalerOptions& options) { return [options] { LossScaler scaler(options); }; };
  expect_refused({
      refused<ValueError>("initial", {"initial 0"}, with({.initial = 0})),
      refused<ValueError>("initial beyond f32", {"initial"}, with({.initial = 1e39})),
      refused<ValueError>("growth", {"growth 0.5"}, with({.growth = 0.5})),
      refused<ValueError>("backoff", {"backoff 1"}, with({.backoff = 1})),
      refused<ValueError>("interval", {"interval 0"}, with({.interval = 0})),
      refused<DTypeError>("a loss in f16", {"f16", "f32 or f64"},
                          [&] { scaler.scale(Tensor::zeros({}, DType::f16)); }),
      refused<DTypeError>("gradients in f16", {"gradient [3] is f16"}, [&] { scaler.unscale(half); }),
      refused<ValueError>("update alone", {"without a step()"}, [&] { scaler.update(); }),
      refused<ValueError>("nothing found", {"without an unscale()"}, [&] { scaler.proceeds(optimizer); }),
      refused<ValueError>("unscaled twice", {"unscale() was called twice"},
                          [&] {
                            scaler.unscale(optimizer);
                            scaler.unscale(optimizer);
                          }),
      refused<ValueError>("stepped twice", {"step() was called twice"},
                          [&] {
                            scaler.step(optimizer);
                            scaler.step(optimizer);
                          }),
      refused<ValueError>("no state", {"no 'factor'"}, [&] { scaler.load_state({}); }),
      refused<DTypeError>("a state of another dtype", {"'factor' is f32", "f64"},
                          [&] {
                            scaler.load_state({{"factor", Tensor::zeros({1})}});
                          }),
      refused<ShapeError>("a state of another shape", {"'factor' has shape [2]", "[1]"},
                          [&] {
                            scaler.load_state({{"factor", Tensor::zeros({2}, DType::f64)}});
                          }),
      refused<ValueError>("a state that no scaler has", {"factor -2"},
                          [&] {
                            auto state = scaler.state();
                            state[0].tensor = Tensor::from(std::vector<double>{-2}, {1});
                            scaler.load_state(state);
                          }),
      refused<DTypeError>("a number as condition", {"f32", "not bool"},
                          [&] { optimizer.step_where(Tensor::zeros({})); }),
      refused<ShapeError>("several conditions", {"[2]", "not []"},
                          [&] { optimizer.step_where(Tensor::zeros({2}, DType::boolean)); }),
  });
}

}  // namespace
}  // namespace treadle
