/// Groups of parameters with rules, options and learning rates of their own.
#include "treadle/optim/parameter_group.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/compile/options.h"
#include "tests/goldens/golden_numbers.h"
#include "tests/refused.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/optim/adam/adam.h"
#include "treadle/optim/sgd/sgd.h"

namespace treadle {
namespace {

using Groups = std::vector<ParameterGroup>;

/// Of the value 1 and the gradient 1.
Tensor grouped_parameter(const Shape& shape = {1}) {
  Tensor p = full(shape, 1, DType::f64).set_requires_grad();
  p.set_grad(full(shape, 1, DType::f64));
  return p;
}

double first_of(const Tensor& x) { return x.to_doubles()[0]; }

/// p - rate·factor·(1 + decay·p), as exact fractions.
TEST(ParameterGroups, HaveTheirOwnOptionsAndShareOfTheRate) {
  const Tensor a = grouped_parameter(), b = grouped_parameter(), c = grouped_parameter();
  Optimizer optimizer({{{{"a", a}}, update_by(SgdOptions{.weight_decay = 0.5})},
                       {{{"b", b}}, update_by(SgdOptions()), 4},
                       {{{"c", c}}, update_by(SgdOptions{.momentum = 0.5}), 0.5}},
                      0.125);
  optimizer.step();
  EXPECT_EQ(first_of(a), 1 - 0.125 * 1.5);
  EXPECT_EQ(first_of(b), 1 - 0.5);
  EXPECT_EQ(first_of(c), 1 - 0.0625);
  optimizer.set_schedule(Schedule::named("linear", 0.25, {3}));  // 0.25·(1 - 2/4) at step 1
  optimizer.step();
  EXPECT_EQ(first_of(b), 0.5 - 4 * 0.125);
  EXPECT_EQ(first_of(c), 1 - 0.0625 - 0.0625 * 1.5);
  EXPECT_EQ(optimizer.learning_rate(), 0.125);
}

/// Eager and recorded steps take a factor from when it is set.
TEST(ParameterGroups, TakeAnotherShareOfTheRate) {
  for (bool recorded : {false, true}) {
    const Tensor a = grouped_parameter(), b = grouped_parameter();
    Optimizer optimizer({{{{"a", a}}, update_by(SgdOptions())}, {{{"b", b}}, update_by(SgdOptions()), 2}},
                        0.125);
    auto plain = [&](const Tensor& x) {
      optimizer.zero_grad();
      sum((a + b) * x).backward();
      optimizer.step();
      return x * 1;
    };
    auto step = compile(plain);
    const Tensor one = full({1}, 1, DType::f64);
    for (double factor : {2.0, 4.0, 0.0}) {
      optimizer.set_rate_factor(1, factor);
      recorded ? step(one) : plain(one);
    }
    EXPECT_EQ(first_of(a), 1 - 3 * 0.125) << recorded;
    EXPECT_EQ(first_of(b), 1 - 6 * 0.125) << recorded;
    expect_refused({
        refused<ValueError>("group", {"no group 2", "has 2"}, [&] { optimizer.set_rate_factor(2, 1); }),
        refused<ValueError>("factor", {"factor", "-1"}, [&] { optimizer.set_rate_factor(0, -1); }),
    });
  }
}

/// The same numbers as two optimizers give.
TEST(ParameterGroups, MayHaveDifferentRules) {
  const Tensor a = grouped_parameter(), b = grouped_parameter(), x = grouped_parameter(),
               y = grouped_parameter();
  Optimizer both(
      {{{{"a", a}}, update_by(AdamOptions())}, {{{"b", b}}, update_by(SgdOptions{.momentum = 0.9})}}, 0.1);
  Adam adam({{"x", x}}, 0.1);
  Sgd sgd({{"y", y}}, 0.1, {.momentum = 0.9});
  for (int i = 0; i < 3; ++i) both.step(), adam.step(), sgd.step();
  EXPECT_EQ(first_of(a), first_of(x));
  EXPECT_EQ(first_of(b), first_of(y));
}

TEST(ParameterGroups, OnlyMatricesDecay) {
  const std::vector<NamedTensor> parameters{{"fc.weight", grouped_parameter({2, 3})},
                                            {"fc.bias", grouped_parameter({3})},
                                            {"scale", grouped_parameter({})},
                                            {"conv.weight", grouped_parameter({2, 1, 3, 3})}};
  auto decays = [&](std::unique_ptr<Optimizer> optimizer) {
    for (const NamedTensor& p : parameters) copy_into(p.tensor.detach(), full({}, 1, DType::f64));
    optimizer->step();
    std::vector<bool> result;
    for (const NamedTensor& p : parameters) result.push_back(first_of(p.tensor) < 0.5);
    return result;
  };
  const SgdOptions options{.weight_decay = 1};
  EXPECT_EQ(decays(std::make_unique<Optimizer>(decay_matrices_only(parameters, options), 0.5)),
            (std::vector{true, false, false, true}));
  const OptimizerSettings settings{.options = {{"weight_decay", 1.0}}, .decay_vectors = false};
  EXPECT_EQ(decays(make_optimizer("sgd", parameters, 0.5, settings)),
            (std::vector{true, false, false, true}));
  EXPECT_EQ(decays(make_optimizer("sgd", parameters, 0.5, {.options = {{"weight_decay", 1.0}}})),
            std::vector(4, true));
}

/// Exact gradients of a layer; weights of two axes and biases decay otherwise.
TEST(ParameterGroups, ReplaysGiveTheBitsOfEagerSteps) {
  struct Layer {
    Tensor w, b;
    Optimizer optimizer;
    explicit Layer(Device device)
        : w(to(goldens::signed_tensor(1, {6, 9}), device).set_requires_grad()),
          b(to(goldens::signed_tensor(2, {6}), device).set_requires_grad()),
          optimizer({{{{"w", w}}, update_by(AdamOptions{.weight_decay = 0.1, .decoupled = true})},
                     {{{"b", b}}, update_by(AdamOptions()), 0.25}},
                    0.125) {}
    void operator()(const Tensor& x) {
      optimizer.zero_grad();
      sum(linear(x, w, b)).backward();
      optimizer.step();
    }
  };
  for (Device device : {kCpu, kSimt}) {
    Layer eager(device), recorded(device);
    for (Layer* layer : {&eager, &recorded})
      layer->optimizer.set_schedule(Schedule::named("linear", 0.125, {10}));
    auto compiled = compile([&](Tensor x) { recorded(x); }, kDeclared);
    for (uint32_t i = 0; i < 6; ++i) {
      const Tensor x = to(goldens::signed_tensor(100 + i, {4, 9}), device);
      eager(x), compiled(x);
      EXPECT_EQ(recorded.w.to_doubles(), eager.w.to_doubles()) << to_string(device) << ' ' << i;
      EXPECT_EQ(recorded.b.to_doubles(), eager.b.to_doubles()) << to_string(device) << ' ' << i;
    }
    EXPECT_EQ(compiled.programs().size(), 1u);
  }
}

TEST(ParameterGroups, StatesAreForTheSameGroups) {
  const Tensor a = grouped_parameter(), b = grouped_parameter();
  const auto rule = update_by(SgdOptions{.momentum = 0.5});
  Optimizer apart({{{{"a", a}}, rule}, {{{"b", b}}, rule}}, 1),
      turned({{{{"b", b}}, rule}, {{{"a", a}}, rule}}, 1), together({{{{"a", a}, {"b", b}}, rule}}, 1),
      again({{{{"a", a}}, rule}, {{{"b", b}}, rule}}, 1);
  apart.step(), apart.step();
  again.load_state(apart.state());
  EXPECT_EQ(again.step_count(), 2);
  for (const NamedTensor& one : again.state())
    if (one.name.ends_with("momentum")) {
      EXPECT_EQ(one.tensor.item(), 1.5) << one.name;
    }
  expect_refused({
      refused<ValueError>("other", {"'a'", "group 1", "group 0"}, [&] { again.load_state(turned.state()); }),
      refused<ValueError>("one", {"'b'", "group 0", "group 1"}, [&] { again.load_state(together.state()); }),
      refused<ValueError>("two", {"'b'", "group 1", "group 0"}, [&] { together.load_state(apart.state()); }),
  });
  EXPECT_EQ(again.step_count(), 2);
}

TEST(ParameterGroups, RefusesWhatMakesNone) {
  const Tensor a = grouped_parameter(), b = grouped_parameter();
  const auto rule = update_by(SgdOptions());
  auto with_factor = [=](double factor) { return [=] { Optimizer({{{{"a", a}}, rule, factor}}, 1); }; };
  expect_refused({
      refused<ValueError>("factor", {"-1"}, with_factor(-1)),
      refused<ValueError>("infinite", {"inf"}, with_factor(INFINITY)),
      refused<ValueError>("no rule", {"no rule"},
                          [=] {
                            Optimizer({{{{"a", a}}, nullptr}}, 1);
                          }),
      refused<ValueError>("one name", {"'a'"},
                          [=] {
                            Optimizer({{{{"a", a}}, rule}, {{{"a", b}}, rule}}, 1);
                          }),
      refused<ValueError>("options", {"weight decay", "-1"},
                          [] { update_by(SgdOptions{.weight_decay = -1}); }),
      refused<ValueError>("unknown", {"'decay'", "weight_decay"},
                          [=] {
                            make_optimizer("sgd", {{"a", a}}, 1, {.options = {{"decay", 1.0}}});
                          }),
  });
}

/// It is in the first.
TEST(ParameterGroups, ATensorInTwoGroupsCountsOnce) {
  const Tensor a = grouped_parameter();
  Optimizer optimizer({{{{"a", a}}, update_by(SgdOptions())}, {{{"b", a}}, update_by(SgdOptions()), 8}}, 0.5);
  optimizer.step();
  EXPECT_EQ(first_of(a), 0.5);
}

}  // namespace
}  // namespace treadle
