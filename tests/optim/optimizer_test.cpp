#include "treadle/optim/optimizer.h"

#include <gtest/gtest.h>

#include "treadle/core/error.h"
#include "treadle/ops/copy.h"
#include "treadle/ops/random.h"
#include "treadle/optim/adam.h"
#include "treadle/optim/sgd.h"

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
  const Schedule schedule = Schedule::cosine(0.5, 4);
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
  second.set_schedule(Schedule::cosine(0.5, 4));
  second.load_state(first.state());
  second.step();
  EXPECT_EQ(second.learning_rate(), Schedule::cosine(0.5, 4).at(2));
}

TEST(Optimizer, SettingALearningRateEndsTheSchedule) {
  Tensor p = unit_slope();
  Sgd optimizer({{"p", p}}, 17);
  optimizer.set_schedule(Schedule::cosine(0.5, 4));
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
  for (const char* name : {"sgd", "momentum", "adam", "adamw"}) {
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
      if (!slot.starts_with("without.")) continue;
      EXPECT_EQ(tensor.item(), 0) << slot;
    }
  }
}

/// The count belongs to the optimizer: a gradient that arrives at step 2 is no first step.
TEST(Optimizer, CountsStepsOnceForAllParameters) {
  Tensor early = unit_slope(), late = Tensor::zeros({1}, DType::f64).set_requires_grad();
  Sgd optimizer({{"early", early}, {"late", late}}, 1, SgdOptions{.momentum = 0.5, .dampening = 0.5});
  optimizer.step();
  EXPECT_EQ(early.item(), -1);  // the buffer becomes the gradient
  late.set_grad(Tensor::from(std::vector<double>{1}, {1}));
  optimizer.step();
  EXPECT_EQ(late.item(), -0.5);  // dampening applies
}

}  // namespace
}  // namespace treadle
