/// Functions whose surroundings change in turns: a few programs serve all calls, and memory stays bounded.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/compile/options.h"
#include "tests/random_tensor.h"
#include "treadle/compile/compile.h"
#include "treadle/core/allocator.h"
#include "treadle/core/log.h"
#include "treadle/graph/autograd.h"
#include "treadle/models/model.h"
#include "treadle/nn/linear.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/optim/adam/adam.h"

namespace treadle {
namespace {

/// Gradients of several batches, added up, for one step of the optimizer.
struct Accumulation {
  std::shared_ptr<Module> model = make_model("mlp", 7);
  std::shared_ptr<Optimizer> adam = std::make_shared<Adam>(model->named_parameters(), 0.001);
  int recordings = 0;

  Tensor add_gradients(const Tensor& x, const Tensor& y) {
    ++recordings;
    Tensor loss = cross_entropy((*model)(x), y);
    loss.backward();
    return loss;
  }
};

constexpr int kSteps = 40, kBatches = 3;

/// `step(x, y, batch)` for each batch of all steps, with what the allocator holds after a few and after all.
std::pair<size_t, size_t> run_steps(const std::function<void(const Tensor&, const Tensor&, int)>& step) {
  const Tensor y = Tensor::from(std::vector<int64_t>{1, 7, 3, 3}, {4});
  size_t early = 0;
  for (int i = 0; i < kSteps; ++i) {
    for (int batch = 0; batch < kBatches; ++batch)
      step(random_tensor({4, 1, 28, 28}, uint64_t(i * kBatches + batch)), y, batch);
    if (i == 5) early = allocator(kCpu).statistics().allocated_bytes;
  }
  return {early, allocator(kCpu).statistics().allocated_bytes};
}

/// Recordings of a program: the first call, and those that are compared.
int comparisons(int calls) {
  int count = calls >= 1;
  for (int at = 2; at <= calls; at *= at == 2 ? 2 : 4) ++count;
  return count;
}

TEST(Growth, GradientsThatAddUpNeedOneProgramForTheFirstAndOneForMore) {
  for (bool updates_compiled : {false, true}) {
    Accumulation eager, compiled;
    auto add = compile([&](Tensor x, Tensor y) { return compiled.add_gradients(x, y); }, kUnfused);
    auto update = compile([&] { compiled.adam->step(); }, kUnfused);
    auto [early, late] = run_steps([&](const Tensor& x, const Tensor& y, int batch) {
      if (batch == 0) eager.adam->zero_grad(), compiled.adam->zero_grad();
      EXPECT_EQ(add(x, y).item(), eager.add_gradients(x, y).item());
      if (batch + 1 < kBatches) return;
      eager.adam->step();
      updates_compiled ? update() : compiled.adam->step();
    });
    for (size_t i = 0; i < eager.model->parameters().size(); ++i)
      EXPECT_EQ(eager.model->parameters()[i].to_vector<float>(),
                compiled.model->parameters()[i].to_vector<float>());
    EXPECT_EQ(add.programs().size(), 2u);
    EXPECT_LE(update.programs().size(), 1u);
    EXPECT_EQ(compiled.recordings, comparisons(kSteps) + comparisons(kSteps * (kBatches - 1)));
    EXPECT_EQ(late, early);
  }
}

TEST(Growth, GradientsFromBeforeAreInputsInPrint) {
  Tensor w = full({4}, 0).set_requires_grad();
  auto add = compile([&](Tensor x) { sum(w * x).backward(); }, kUnfused);
  add(full({4}, 1)), add(full({4}, 1));
  const std::string text = add.programs().back().program->to_string();
  EXPECT_NE(text.find("gradient 0:[4]"), std::string::npos) << text;
}

/// What was given before the last one is written again, unless the caller holds it.
TEST(Growth, GradientsThatAddUpTakeTurnsInTwoPlaces) {
  Tensor w = full({4}, 0).set_requires_grad();
  auto add = compile([&](Tensor x) { sum(w * x).backward(); }, kUnfused);
  for (int i = 0; i < 5; ++i) add(full({4}, 1));
  const Tensor held = w.grad();
  const auto blocks = allocator(kCpu).statistics().allocations;
  const Tensor one = full({4}, 1);
  const auto made = allocator(kCpu).statistics().allocations - blocks;
  for (int i = 0; i < 6; ++i) add(one);
  EXPECT_EQ(held.to_doubles(), std::vector<double>(4, 5));
  EXPECT_EQ(w.grad().to_doubles(), std::vector<double>(4, 11));
  EXPECT_EQ(allocator(kCpu).statistics().allocations - blocks, made + 1) << "one for what the caller holds";
}

/// In place, what it found is what it leaves.
TEST(Growth, AGradientFromBeforeMayBeWritten) {
  Tensor w = full({4}, 0).set_requires_grad(), eager = full({4}, 0).set_requires_grad();
  auto work = [](Tensor leaf, Tensor x) {
    sum(leaf * x).backward();
    NoGrad no_grad;
    copy_into(leaf.grad(), leaf.grad() * 0.5);
  };
  auto step = compile([&](Tensor x) { work(w, x); }, kUnfused);
  for (int i = 0; i < 6; ++i) {
    step(full({4}, 2)), work(eager, full({4}, 2));
    EXPECT_EQ(w.grad().to_doubles(), eager.grad().to_doubles()) << i;
  }
}

/// A function that sets its model's mode: one program, whatever mode a call finds.
void expect_one_program(const std::function<Tensor(Module&, const Tensor&)>& function,
                        const std::function<void(Module&, int)>& between = {}) {
  auto eager = make_model("mlp", 7), compiled = make_model("mlp", 7);
  int recordings = 0;
  auto f = compile([&](Tensor x) { return ++recordings, function(*compiled, x); }, kUnfused);
  size_t early = 0;
  for (int i = 0; i < 40; ++i) {
    if (between) between(*eager, i), between(*compiled, i);
    const Tensor x = random_tensor({2, 1, 28, 28}, uint64_t(i));
    EXPECT_EQ(f(x).to_vector<float>(), function(*eager, x).to_vector<float>());
    EXPECT_EQ(compiled->is_training(), eager->is_training()) << i;
    EXPECT_EQ(compiled->children()[1].second->is_training(), eager->children()[1].second->is_training()) << i;
    if (i == 5) early = allocator(kCpu).statistics().allocated_bytes;
  }
  EXPECT_EQ(f.programs().size(), 1u);
  EXPECT_EQ(recordings, comparisons(40));
  EXPECT_LE(allocator(kCpu).statistics().allocated_bytes, early);
}

TEST(Growth, AModeSetInsideAndSetBack) {
  expect_one_program([](Module& model, const Tensor& x) {
    model.eval();
    Tensor y = model(x);
    model.train();
    return y;
  });
}

TEST(Growth, AModeSetInsideAndLeft) {
  expect_one_program([](Module& model, const Tensor& x) { return model.eval(), model(x); },
                     [](Module& model, int call) { model.train(call % 3 == 0); });
}

TEST(Growth, AModeThatIsReadSelectsTheProgram) {
  auto model = make_model("mlp", 7);
  auto f = compile(
      [&](Tensor x) {
        const bool before = model->is_training();
        model->eval();
        Tensor y = (*model)(x);
        model->train(before);
        return y;
      },
      kUnfused);
  for (int i = 0; i < 12; ++i) {
    model->train(i % 3 == 0);
    f(random_tensor({2, 1, 28, 28}, uint64_t(i)));
    EXPECT_EQ(model->is_training(), i % 3 == 0) << i;
  }
  EXPECT_EQ(f.programs().size(), 2u);
}

/// Sixteen ways to freeze four tensors.
TEST(Growth, ProgramsOfOneSignatureAreBoundedAndSaidSo) {
  std::vector<std::string> warnings;
  set_log_handler([&](LogLevel, std::string_view text) { warnings.emplace_back(text); });
  std::vector<Tensor> leaves;
  for (int i = 0; i < 4; ++i) leaves.push_back(full({3}, i + 1).set_requires_grad());
  auto f = compile(
      [&](Tensor x) {
        for (const Tensor& leaf : leaves) x = x * leaf;
        return sum(x);
      },
      kUnfused);
  for (int round = 0; round < 2; ++round)
    for (int way = 0; way < 16; ++way) {
      for (int i = 0; i < 4; ++i) leaves[size_t(i)].set_requires_grad(way >> i & 1);
      EXPECT_EQ(f(full({3}, 1)).item(), 72);
    }
  set_log_handler({});
  EXPECT_LE(f.programs().size(), 8u);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("requires a gradient"), std::string::npos) << warnings[0];
}

}  // namespace
}  // namespace treadle
