#include "treadle/optim/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/optim/adam/adam.h"
#include "treadle/optim/sgd/sgd.h"

namespace treadle {
namespace {

/// A parameter of one element with the value 0 and the gradient 1: plain SGD moves it by the learning rate.
Tensor unit_slope(DType dtype = DType::f64, Device device = kCpu) {
  Tensor p = Tensor::zeros({1}, dtype, device).set_requires_grad();
  p.set_grad(dtype == DType::f64 ? Tensor::from(std::vector<double>{1}, {1}, device)
                                 : Tensor::from(std::vector<float>{1}, {1}, device));
  return p;
}

TEST(Optimizer, FollowsTheLearningRateThatIsSet) {
  Tensor p = unit_slope();
  Sgd optimizer({{"p", p}}, 0.5);
  optimizer.step();
  EXPECT_EQ(p.item(), -0.5);
  optimizer.set_learning_rate(0.25);
  EXPECT_EQ(optimizer.learning_rate(), 0.25);
  optimizer.step();
  EXPECT_EQ(p.item(), -0.75);
  EXPECT_EQ(optimizer.step_count(), 2);
}

TEST(Optimizer, RefusesANegativeLearningRate) {
  EXPECT_THROW(Sgd({}, -1), ValueError);
  Sgd optimizer({}, 1);
  EXPECT_THROW(optimizer.set_learning_rate(-1), ValueError);
  EXPECT_EQ(optimizer.learning_rate(), 1);
}

TEST(Optimizer, TakesTheRateOfItsScheduleAtEachStep) {
  Tensor p = unit_slope();
  Sgd optimizer({{"p", p}}, 17);
  const Schedule schedule = Schedule::named("cosine", 0.5, {4});
  optimizer.set_schedule(schedule);
  double expected = 0;
  for (int64_t step = 0; step < 5; ++step) {
    optimizer.step();
    expected -= schedule.at(step);
    EXPECT_EQ(optimizer.learning_rate(), schedule.at(step));
    EXPECT_EQ(p.item(), expected);
  }
}

TEST(Optimizer, AScheduleGoesOnFromTheStepsOfALoadedState) {
  Tensor p = unit_slope();
  Sgd first({{"p", p}}, 1), second({{"p", p}}, 1);
  first.step();
  first.step();
  second.set_schedule(Schedule::named("cosine", 0.5, {4}));
  second.load_state(first.state());
  second.step();
  EXPECT_EQ(second.learning_rate(), Schedule::named("cosine", 0.5, {4}).at(2));
}

TEST(Optimizer, SettingALearningRateEndsTheSchedule) {
  Tensor p = unit_slope();
  Sgd optimizer({{"p", p}}, 17);
  optimizer.set_schedule(Schedule::named("cosine", 0.5, {4}));
  optimizer.set_learning_rate(0.125);
  optimizer.step();
  EXPECT_EQ(p.item(), -0.125);
}

TEST(Optimizer, UpdatesParametersOfSeveralDtypesAndDevices) {
  for (const char* name : {"sgd", "momentum"}) {
    std::vector<NamedTensor> parameters{{"a", unit_slope()},
                                        {"b", unit_slope(DType::f32)},
                                        {"c", unit_slope(DType::f64, kSimt)},
                                        {"d", unit_slope(DType::f32)}};
    make_optimizer(name, parameters, 0.5)->step();
    for (auto& [key, tensor] : parameters) EXPECT_EQ(tensor.item(), -0.5) << name << ' ' << key;
  }
}

/// Updates of a parameter that does not lie row by row: its state lies as it does, and the numbers are the
/// same.
TEST(Optimizer, FollowsTheLayoutOfAParameter) {
  for (const std::string& name : known_optimizers()) {
    const Tensor values = rand({5, 33}), slope = rand({5, 33});
    auto updated = [&](bool transposed) {
      auto lay = [&](const Tensor& x) {
        if (!transposed) return clone(x);
        Tensor y = Tensor::empty_strided({5, 33}, {1, 5}, DType::f32, kCpu);
        copy_into(y, x);
        return y;
      };
      Tensor p = lay(values).set_requires_grad();
      p.set_grad(lay(slope));
      auto optimizer = make_optimizer(name, {{"p", p}}, 0.1);
      for (const NamedTensor& state : optimizer->state())
        EXPECT_TRUE(state.name == "step" || state.tensor.strides() == p.strides()) << state.name;
      for (int i = 0; i < 3; ++i) optimizer->step();
      return p.to_vector<float>();
    };
    EXPECT_EQ(updated(true), updated(false)) << name;
  }
}

TEST(Optimizer, LeavesParametersWithoutGradientAlone) {
  Tensor with = unit_slope(), without = Tensor::zeros({1}, DType::f64).set_requires_grad();
  for (const std::string& name : known_optimizers()) {
    auto optimizer = make_optimizer(name, {{"without", without}, {"with", with}}, 0.5);
    optimizer->step();
    EXPECT_EQ(without.item(), 0) << name;
    EXPECT_LT(with.item(), 0) << name;
    EXPECT_EQ(optimizer->step_count(), 1);
    for (auto& [slot, tensor] : optimizer->state()) {
      if (!slot.starts_with("without.") || slot.ends_with(".group")) continue;
      EXPECT_EQ(tensor.item(), 0) << slot;
    }
  }
}

/// A parameter's first update is that with its first gradient, whenever it comes.
TEST(Optimizer, CountsTheUpdatesOfEachParameter) {
  Tensor early = unit_slope(), late = Tensor::zeros({1}, DType::f64).set_requires_grad();
  Sgd optimizer({{"early", early}, {"late", late}}, 1, SgdOptions{.momentum = 0.5, .dampening = 0.5});
  optimizer.step();
  EXPECT_EQ(early.item(), -1);  // the buffer becomes the gradient
  late.set_grad(Tensor::from(std::vector<double>{1}, {1}));
  optimizer.step();
  EXPECT_EQ(early.item(), -2);  // 0.5·1 + (1 - 0.5)·1
  EXPECT_EQ(late.item(), -1);
  EXPECT_EQ(optimizer.step_count(), 2);
}

/// The late one moves as it would alone.
TEST(Optimizer, LateParametersMoveAsFromTheBeginning) {
  for (const std::string& name : known_optimizers()) {
    Tensor early = unit_slope(), late = Tensor::zeros({1}, DType::f64).set_requires_grad(),
           alone = unit_slope();
    auto both = make_optimizer(name, {{"early", early}, {"late", late}}, 0.125);
    auto one = make_optimizer(name, {{"alone", alone}}, 0.125);
    both->step(), both->step();
    late.set_grad(alone.grad());
    for (int i = 0; i < 3; ++i) {
      both->step(), one->step();
      EXPECT_EQ(late.item(), alone.item()) << name << ' ' << i;
    }
    EXPECT_NE(early.item(), late.item());
  }
}

TEST(Optimizer, CountsOfLateParametersAreSavedAndLoaded) {
  for (const char* name : {"momentum", "adam"}) {
    auto make = [&](bool with_late) {
      std::vector<NamedTensor> parameters{{"early", unit_slope()}, {"late", unit_slope()}};
      if (!with_late) parameters[1].tensor.set_grad({});
      return std::pair(parameters, make_optimizer(name, parameters, 0.125));
    };
    auto [of_first, first] = make(false);
    first->step(), first->step();
    of_first[1].tensor.set_grad(of_first[0].tensor.grad());
    first->step();
    auto [of_second, second] = make(true);
    second->load_state(first->state());
    for (int i = 0; i < 2; ++i)
      copy_into(of_second[size_t(i)].tensor.detach(), of_first[size_t(i)].tensor.detach());
    first->step(), second->step();
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(of_first[size_t(i)].tensor.item(), of_second[size_t(i)].tensor.item()) << name << ' ' << i;
    EXPECT_EQ(second->step_count(), 4);
  }
}

/// Files from before counts were kept for each parameter hold "step" alone; so do those where all are equal.
TEST(Optimizer, AStateWithoutCountsOfParametersMeansAllSteps) {
  Tensor p = unit_slope(), q = unit_slope();
  Adam first({{"p", p}}, 0.125), second({{"p", q}}, 0.125);
  first.step(), first.step();
  for (const NamedTensor& one : first.state()) EXPECT_NE(one.name, "p.step");
  second.load_state(first.state());
  copy_into(q.detach(), p.detach());
  first.step(), second.step();
  EXPECT_EQ(p.item(), q.item());
}

TEST(Optimizer, RefusesAStateThatIsNone) {
  Tensor p = unit_slope();
  Adam adam({{"p", p}}, 0.125);
  adam.step();
  const auto state = adam.state();
  auto with = [&](const std::string& name, const Tensor& value) {
    auto wrong = state;
    for (NamedTensor& one : wrong)
      if (one.name == name) one.tensor = value;
    if (name == "p.step") wrong.push_back({name, value});
    return [&adam, wrong] { adam.load_state(wrong); };
  };
  const Tensor negative = Tensor::from(std::vector<int64_t>{-1}, {1});
  for (const char* name : {"step", "p.step"})
    expect_refused({
        refused<ValueError>("negative", {name, "-1"}, with(name, negative)),
        refused<ShapeError>("two", {name, "[2]", "[1]"}, with(name, Tensor::zeros({2}, DType::i64))),
        refused<DTypeError>("fractions", {name, "f32", "i64"}, with(name, Tensor::zeros({1}))),
    });
  const char* moment = "p.first_moment";
  expect_refused({
      refused<ValueError>("no step", {"has no 'step'"}, with("step", {})),
      refused<ValueError>("no moment", {"has no 'p.first_moment'"}, with(moment, {})),
      refused<ShapeError>("shape", {moment, "[2]", "[1]"}, with(moment, Tensor::zeros({2}, DType::f64))),
      refused<DTypeError>("dtype", {moment, "f32", "f64"}, with(moment, Tensor::zeros({1}))),
  });
  EXPECT_EQ(adam.step_count(), 1);
}

TEST(Optimizer, CountsATensorThatIsListedTwiceOnce) {
  for (const std::string& name : known_optimizers()) {
    Tensor twice = unit_slope(), once = unit_slope();
    auto optimizer = make_optimizer(name, {{"a", twice}, {"b", twice}}, 0.125);
    auto other = make_optimizer(name, {{"a", once}}, 0.125);
    for (int i = 0; i < 3; ++i) optimizer->step(), other->step();
    EXPECT_EQ(twice.item(), once.item()) << name;
    for (const NamedTensor& one : optimizer->state()) EXPECT_FALSE(one.name.starts_with("b.")) << one.name;
  }
}

TEST(Optimizer, RefusesWhatItCannotUpdate) {
  Tensor p = unit_slope(), q = unit_slope();
  auto sgd = [](std::vector<NamedTensor> parameters) { return [=] { Sgd(parameters, 1); }; };
  expect_refused({
      refused<ValueError>("undefined", {"'p'", "undefined"}, sgd({{"p", {}}})),
      refused<DTypeError>("integers", {"'p'", "i64"}, sgd({{"p", Tensor::zeros({2}, DType::i64)}})),
      refused<ValueError>("expanded", {"'p'", "[0, 1]"}, sgd({{"p", expand(Tensor::zeros({1, 3}), {2, 3})}})),
      refused<ValueError>("overlapping", {"'p'", "[1, 1]"},
                          sgd({{"p", Tensor::zeros({6}).alias({2, 3}, {1, 1})}})),
      refused<ValueError>("a result", {"'p'", "detach()"}, sgd({{"p", p * 2.0}})),
      refused<ValueError>("one name", {"'p'"}, sgd({{"p", p}, {"p", q}})),
  });
  EXPECT_NO_THROW(Sgd({{"p", slice(transpose(Tensor::zeros({5, 7}), 0, 1), 0, 1, 6, 2)}}, 1));
}

TEST(Optimizer, RefusesNumbersThatMakeNoStep) {
  const double nan = std::nan(""), infinite = INFINITY;
  for (double rate : {-1.0, nan, infinite}) {
    EXPECT_THROW(Sgd({}, rate), ValueError) << rate;
    EXPECT_THROW(Schedule::named("constant", rate), ValueError) << rate;
    EXPECT_THROW(Schedule::named("cosine", rate, {10}), ValueError) << rate;
    EXPECT_THROW(Schedule::named("one-cycle", rate, {10}), ValueError) << rate;
  }
  for (double wrong : {-1.0, 1.0, 2.0, nan}) {
    EXPECT_THROW(Adam({}, 1, {.beta1 = wrong}), ValueError) << wrong;
    EXPECT_THROW(Adam({}, 1, {.beta2 = wrong}), ValueError) << wrong;
  }
  for (double wrong : {-1.0, nan, infinite}) {
    EXPECT_THROW(Adam({}, 1, {.epsilon = wrong}), ValueError) << wrong;
    EXPECT_THROW(Adam({}, 1, {.weight_decay = wrong}), ValueError) << wrong;
    EXPECT_THROW(Sgd({}, 1, {.momentum = wrong}), ValueError) << wrong;
    EXPECT_THROW(Sgd({}, 1, {.weight_decay = wrong}), ValueError) << wrong;
  }
  EXPECT_THROW(Sgd({}, 1, {.momentum = 0.5, .dampening = nan}), ValueError);
  EXPECT_THROW(Sgd({}, 1, {.nesterov = true}), ValueError);
  EXPECT_THROW(Sgd({}, 1, {.momentum = 0.5, .dampening = 0.1, .nesterov = true}), ValueError);
  EXPECT_THROW(Schedule::named("cosine", 1, {-1}), ValueError);
  EXPECT_THROW(Schedule::named("cosine", 1, {10}).at(-1), ValueError);
}

/// What fails before anything is updated is no step.
/// Fails before anything is written: the settings ask for variants that are not there.
TEST(Optimizer, AStepThatFailsIsNotCounted) {
  Tensor p = unit_slope();
  Sgd sgd({{"p", p}}, 17);
  sgd.set_schedule(Schedule::named("cosine", 0.5, {4}));
  const auto before =
      std::exchange(settings().variants, {{"sgd_update", "none"}, {"sgd_update_all", "none"}});
  EXPECT_THROW(sgd.step(), ValueError);
  settings().variants = before;
  EXPECT_EQ(sgd.step_count(), 0);
  EXPECT_EQ(sgd.learning_rate(), 17);
}

}  // namespace
}  // namespace treadle
