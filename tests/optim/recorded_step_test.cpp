/// Optimizer steps in a compiled function: the replays give the bits of eager steps.
#include <gtest/gtest.h>

#include "tests/compile/options.h"
#include "tests/goldens/golden_numbers.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/optim/adam/adam.h"
#include "treadle/optim/sgd/sgd.h"

namespace treadle {
namespace {

using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(std::vector<NamedTensor>)>;

/// Two parameters whose gradients are the inputs, exactly: only updates round.
struct Training {
  Tensor w, b;
  std::unique_ptr<Optimizer> optimizer;

  explicit Training(const MakeOptimizer& make, Device device = kCpu)
      : w(to(goldens::signed_tensor(1, {3, 67}), device).set_requires_grad()),
        b(to(goldens::signed_tensor(2, {5}), device).set_requires_grad()),
        optimizer(make({{"w", w}, {"b", b}})) {}

  Tensor operator()(const Tensor& x, const Tensor& y) {
    optimizer->zero_grad();
    Tensor loss = sum(w * x) + sum(b * y);
    loss.backward();
    optimizer->step();
    return loss;
  }
};

/// The same step, eager and compiled, from the same start.
struct Twins {
  Training eager, recorded;
  Compiled<std::function<Tensor(Tensor, Tensor)>> compiled;
  uint32_t steps = 0;

  explicit Twins(const MakeOptimizer& make, Device device = kCpu)
      : eager(make, device),
        recorded(make, device),
        compiled(compile(
            std::function<Tensor(Tensor, Tensor)>([this](Tensor x, Tensor y) { return recorded(x, y); }),
            kDeclared)) {}

  void step() {
    const Device device = eager.w.device();
    Tensor x = to(goldens::signed_tensor(100 + steps, {3, 67}), device);
    Tensor y = to(goldens::signed_tensor(200 + steps, {5}), device);
    ++steps;
    eager(x, y);
    compiled(x, y);
  }

  void expect_equal(const std::string& what) const {
    auto expected = eager.optimizer->state(), actual = recorded.optimizer->state();
    expected.push_back({"w", eager.w}), actual.push_back({"w", recorded.w});
    expected.push_back({"b", eager.b}), actual.push_back({"b", recorded.b});
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(actual[i].tensor.to_doubles(), expected[i].tensor.to_doubles())
          << what << ", " << expected[i].name << " after step " << steps;
  }
};

std::vector<std::pair<std::string, MakeOptimizer>> optimizers() {
  std::vector<std::pair<std::string, MakeOptimizer>> list;
  for (const std::string& name : known_optimizers())
    list.emplace_back(name, [name](auto p) { return make_optimizer(name, std::move(p), 0.1); });
  list.emplace_back("nesterov", [](auto p) {
    return std::make_unique<Sgd>(std::move(p), 0.1,
                                 SgdOptions{.momentum = 0.9, .weight_decay = 0.01, .nesterov = true});
  });
  list.emplace_back("dampening", [](auto p) {
    return std::make_unique<Sgd>(std::move(p), 0.1, SgdOptions{.momentum = 0.9, .dampening = 0.5});
  });
  return list;
}

TEST(RecordedStep, ReplaysGiveTheBitsOfEagerSteps) {
  for (Device device : {kCpu, kSimt})
    for (auto& [name, make] : optimizers()) {
      Twins twins(make, device);
      for (int i = 0; i < 8; ++i) {
        twins.step();
        twins.expect_equal(name + " on " + to_string(device));
      }
      EXPECT_EQ(twins.recorded.optimizer->step_count(), 8);
    }
}

TEST(RecordedStep, ReplaysFollowTheScheduleAndTheRateThatIsSet) {
  for (auto& [name, make] : optimizers()) {
    Twins twins(make);
    for (Training* training : {&twins.eager, &twins.recorded})
      training->optimizer->set_schedule(Schedule::named("cosine", 0.25, {6}));
    for (int i = 0; i < 5; ++i) twins.step();
    twins.expect_equal(name);
    EXPECT_EQ(twins.recorded.optimizer->learning_rate(), Schedule::named("cosine", 0.25, {6}).at(4));
    for (Training* training : {&twins.eager, &twins.recorded}) training->optimizer->set_learning_rate(0.5);
    twins.step();
    twins.expect_equal(name);
    EXPECT_EQ(twins.compiled.programs().size(), 1u);
  }
}

TEST(RecordedStep, ReplaysGoOnFromALoadedState) {
  for (auto& [name, make] : optimizers()) {
    Twins twins(make);
    Training other(make);
    for (uint32_t i = 0; i < 3; ++i) {
      other(goldens::signed_tensor(300 + i, {3, 67}), goldens::signed_tensor(400 + i, {5}));
      twins.step();
    }
    other(goldens::signed_tensor(303, {3, 67}), goldens::signed_tensor(403, {5}));
    for (Training* training : {&twins.eager, &twins.recorded})
      training->optimizer->load_state(other.optimizer->state());
    twins.step();
    twins.expect_equal(name);
    EXPECT_EQ(twins.recorded.optimizer->step_count(), 5);
  }
}

/// One parameter has no gradient at first; later both have, and are at different steps for ever.
TEST(RecordedStep, LateParametersHaveStepsOfTheirOwn) {
  for (Device device : {kCpu, kSimt})
    for (auto& [name, make] : optimizers()) {
      Training eager(make, device), recorded(make, device);
      bool both = false;
      auto work = [&](Training& training, const Tensor& x, const Tensor& y) {
        training.optimizer->zero_grad();
        Tensor loss = sum(training.w * x);
        if (both) loss = loss + sum(training.b * y);
        loss.backward();
        training.optimizer->step();
      };
      auto first = compile([&](Tensor x, Tensor y) { work(recorded, x, y); }, kDeclared);
      auto second = compile([&](Tensor x, Tensor y) { work(recorded, x, y); }, kDeclared);
      for (uint32_t i = 0; i < 10; ++i) {
        Tensor x = to(goldens::signed_tensor(100 + i, {3, 67}), device);
        Tensor y = to(goldens::signed_tensor(200 + i, {5}), device);
        both = i % 5 > 2;  // three steps of w alone, two of both
        work(eager, x, y);
        both ? second(x, y) : first(x, y);
        EXPECT_EQ(recorded.w.to_doubles(), eager.w.to_doubles()) << name << ' ' << i;
        EXPECT_EQ(recorded.b.to_doubles(), eager.b.to_doubles()) << name << ' ' << i;
      }
      EXPECT_LE(second.programs().size(), 1u) << "both stay apart";
    }
}

/// A program in which two parameters share a number does not serve calls that find them apart.
TEST(RecordedStep, ProgramsFollowParametersThatGoApart) {
  for (auto& [name, make] : optimizers()) {
    Twins twins(make);
    twins.step(), twins.step();
    for (Training* training : {&twins.eager, &twins.recorded}) {
      training->optimizer->zero_grad();
      sum(training->w * 2.0).backward();
      training->optimizer->step();
    }
    for (int i = 0; i < 3; ++i) twins.step(), twins.expect_equal(name);
    EXPECT_LE(twins.compiled.programs().size(), 2u) << name;
  }
}

/// The second step() of a function finds the counts that the first one leaves.
TEST(RecordedStep, TwoStepsOfDifferentParameters) {
  for (auto& [name, make] : optimizers()) {
    Training eager(make), recorded(make);
    auto work = [](Training& training, const Tensor& x, const Tensor& y) {
      training.optimizer->zero_grad();
      sum(training.w * x).backward();
      training.optimizer->step();
      sum(training.b * y).backward();
      training.optimizer->step();
    };
    auto step = compile([&](Tensor x, Tensor y) { work(recorded, x, y); }, kDeclared);
    for (uint32_t i = 0; i < 6; ++i) {
      Tensor x = goldens::signed_tensor(100 + i, {3, 67}), y = goldens::signed_tensor(200 + i, {5});
      work(eager, x, y), step(x, y);
      EXPECT_EQ(recorded.w.to_doubles(), eager.w.to_doubles()) << name << ' ' << i;
      EXPECT_EQ(recorded.b.to_doubles(), eager.b.to_doubles()) << name << ' ' << i;
    }
  }
}

TEST(RecordedStep, ReplaysOutliveTheOptimizerButRecordingsDoNot) {
  Twins twins([](auto p) { return make_optimizer("momentum", std::move(p), 0.1); });
  for (int i = 0; i < 3; ++i) twins.step();
  twins.recorded.optimizer.reset();
  Tensor x = goldens::signed_tensor(103, {3, 67}), y = goldens::signed_tensor(203, {5});
  twins.eager(x, y);
  twins.compiled(x, y);
  EXPECT_EQ(twins.recorded.w.to_doubles(), twins.eager.w.to_doubles());
  EXPECT_THROW(twins.compiled(goldens::signed_tensor(1, {1, 67}), y), RecordingError);
}

}  // namespace
}  // namespace treadle
