/// What steps keep between replays: made once, made anew when an input was written, never out of date.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>

#include "tests/compile/network_bounds.h"
#include "tests/compile/options.h"
#include "treadle/compile/compile.h"
#include "treadle/compile/instance.h"
#include "treadle/compile/variant_choice.h"
#include "treadle/core/error.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/op.h"
#include "treadle/graph/settings.h"
#include "treadle/models/model.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/optim/sgd/sgd.h"

namespace treadle {
namespace {

using OneToOne = std::function<Tensor(Tensor)>;
using TwoToOne = std::function<Tensor(Tensor, Tensor)>;

std::atomic<int> fills{0};
std::atomic<bool> next_fill_fails{false};

std::vector<TensorSpec> spec_of_the_first(Specs inputs, const Attributes&) { return {inputs[0]}; }

/// Copies input `which` to a kept block, and that to the output.
template <DeviceKind kind>
void copy_by_way_of_kept(const Call& call, int which) {
  Runtime& device = runtime({kind, 0});
  const TensorView& y = call.output();
  const size_t bytes = size_t(y.numel()) * sizeof(float);
  const float* kept = call.kept<float>(y.numel(), {0, which}, [&](float* block) {
    ++fills;
    device.copy_within(block, call.input(which).data, bytes);
    if (next_fill_fails.exchange(false)) throw std::runtime_error("on purpose");
  });
  device.copy_within(y.data, kept, bytes);
}

template <DeviceKind kind, int which>
void run_copy(const Call& call) {
  copy_by_way_of_kept<kind>(call, which);
}

/// (a, b) → b, by way of a block that is kept for both.
const Op& second_of_two() {
  static const Op op{.name = "second_of_two",
                     .summary = "b",
                     .infer = spec_of_the_first,
                     .variants = {{"kept", DeviceKind::cpu, run_copy<DeviceKind::cpu, 1>},
                                  {"kept", DeviceKind::simt, run_copy<DeviceKind::simt, 1>}}};
  return op;
}

Tensor second(const Tensor& a, const Tensor& b) { return apply(second_of_two(), {a, b})[0]; }

Tensor on(Device device, const Tensor& x) { return to(x, device); }

class Kept : public testing::Test {
 protected:
  void SetUp() override { fills = 0, next_fill_fails = false; }

  Tensor a_ = full({4}, 1), b_ = Tensor::from({1, 2, 3, 4}, {4});
  Tensor x_ = full({4}, 10);
  Compiled<OneToOne> f_ = compile(OneToOne([this](Tensor x) { return x + second(a_, b_); }), kDeclared);

  /// Calls f(x) a few times; what the step made must be b, and `wanted` fills must have been made in all.
  void expect_fills(int wanted) {
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(f_(x_).to_vector<float>(), (x_ + b_).to_vector<float>()) << "call " << i;
    EXPECT_EQ(fills, wanted);
  }
};

TEST_F(Kept, IsMadeOnceWhereNothingChanges) {
  expect_fills(1);
  expect_fills(1);
}

TEST_F(Kept, IsMadeAnewAfterEachWrite) {
  expect_fills(1);
  copy_into(b_, full({4}, 7));
  expect_fills(2);
  copy_into(slice(b_, 0, 1, 2), full({1}, 5));  // through a view
  expect_fills(3);
  copy_into(a_, full({4}, 2));  // the other input
  expect_fills(4);
  b_.data<float>()[0] = 100;  // a raw write tells nobody, its writer has to
  b_.handle()->storage->bump_version();
  expect_fills(5);
}

TEST_F(Kept, IsMadeAnewForAnotherTensor) {
  expect_fills(1);
  b_.assign(Tensor::from({5, 6, 7, 8}, {4}));
  expect_fills(2);
}

TEST_F(Kept, IsMadeAnewAfterAFailure) {
  expect_fills(1);
  copy_into(b_, full({4}, 7));
  next_fill_fails = true;
  EXPECT_THROW(f_(x_), std::runtime_error);
  EXPECT_EQ(fills, 2);
  expect_fills(3);
}

TEST_F(Kept, EagerCallsKeepNothing) {
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(second(a_, b_).to_vector<float>(), b_.to_vector<float>());
    EXPECT_EQ(fills, i);
  }
}

TEST_F(Kept, ArgumentsAndResultsAreNotKept) {
  auto argument = compile([this](Tensor x) { return second(a_, x); }, kDeclared);
  auto result = compile([this](Tensor x) { return second(a_, b_ + x); }, kDeclared);
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(argument(full({4}, i)).to_vector<float>(), std::vector<float>(4, float(i)));
    EXPECT_EQ(result(full({4}, i)).to_vector<float>(), (b_ + double(i)).to_vector<float>());
    EXPECT_EQ(fills, 2 * i);
  }
}

TEST_F(Kept, WhatTheProgramWritesIsNotKept) {
  auto step = compile(
      [this](Tensor x) {
        Tensor y = second(a_, b_) * x;
        copy_into(b_, y);
        return y + second(a_, b_);
      },
      kDeclared);
  for (int i = 1; i < 4; ++i) {
    const auto got = step(full({4}, 2)).to_vector<float>();
    EXPECT_EQ(got, (b_ + b_).to_vector<float>());
    EXPECT_EQ(fills, 2 * i);
  }
  EXPECT_EQ(b_.to_vector<float>(), (std::vector<float>{8, 16, 24, 32}));
}

TEST_F(Kept, FollowsAnotherProgram) {
  auto grow = compile([this](Tensor x) { copy_into(b_, b_ + x); }, kDeclared);
  for (int i = 1; i < 4; ++i) {
    expect_fills(i);
    grow(x_);
  }
}

void write_and_fail(const Call& call) {
  call.output().as<float>()[0] += 77;
  throw std::runtime_error("on purpose");
}

TEST_F(Kept, FollowsAnUpdateThatFailed) {
  static const Op op{.name = "write_and_fail",
                     .summary = "writes one element",
                     .infer = spec_of_the_first,
                     .mutates = {0},
                     .variants = {{"only", DeviceKind::cpu, write_and_fail}}};
  auto update = compile([this](Tensor) { apply_in_place(op, {b_}); }, kDeclared);
  for (int i = 1; i < 5; ++i) {  // the first two calls record the function, which raises the version too
    expect_fills(i);
    EXPECT_THROW(update(x_), std::runtime_error);
    EXPECT_EQ(b_.to_vector<float>()[0], 1 + 77 * i);
  }
  expect_fills(5);
}

TEST_F(Kept, CountsAsMemoryOfTheProgram) {
  constexpr int64_t kCount = 1000;
  Tensor a = full({kCount}, 1), b = full({kCount}, 2);
  auto memory = [&](const OneToOne& function) {
    auto f = compile(function, kDeclared);
    for (int i = 0; i < 3; ++i) f(a);
    return f.programs()[0].memory_bytes;
  };
  const size_t kept = memory([&](Tensor) { return second(a, b); });
  const size_t plain = memory([&](Tensor) { return a + b; });
  EXPECT_EQ(kept - plain, size_t(kCount) * sizeof(float));
}

/// Concurrent calls run instances of their own.
TEST_F(Kept, ThreadsHaveBlocksOfTheirOwn) {
  constexpr int kThreads = 4, kCalls = 200;
  expect_fills(1);
  for (int round = 0; round < 3; ++round) {
    copy_into(b_, full({4}, round));
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([&, thread] {
        for (int i = 0; i < kCalls; ++i)
          wrong += f_(full({4}, thread)).to_vector<float>() != std::vector<float>(4, float(thread + round));
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  }
  EXPECT_LE(fills, 1 + 3 * kThreads);
}

TEST_F(Kept, OnSimtIsMadeOnceToo) {
  a_.assign(on(kSimt, a_)), b_.assign(on(kSimt, b_)), x_.assign(on(kSimt, x_));
  expect_fills(1);
}

/// A graph holds the work that made the block: were it left out when the graph is captured, no launch would
/// make it again.
TEST_F(Kept, GraphsMakeItInEachLaunch) {
  Tensor a = on(kSimt, a_), b = on(kSimt, b_), x = on(kSimt, x_);
  auto f = compile([&](Tensor y) { return y + second(a, b); },
                   {.measure = false, .graph = CompileOptions::Graph::always});
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(f(x).to_vector<float>(), (x + b).to_vector<float>()) << "call " << i;
    if (i >= 2) copy_into(b, b + 1.0);  // later than the capture
  }
  EXPECT_EQ(fills, 2);  // in the first replay, and in the one that was captured
}

void run_negated(const Call& call) {
  const int64_t count = call.output().numel();
  const float* kept = call.kept<float>(count, {1}, [&](float* block) {
    ++fills;
    for (int64_t i = 0; i < count; ++i) block[i] = -call.input(1).as<float>()[i];
  });
  for (int64_t i = 0; i < count; ++i) call.output().as<float>()[i] = -kept[i];
}

void run_slowly(const Call& call) {
  std::this_thread::sleep_for(std::chrono::microseconds(100));
  copy_by_way_of_kept<DeviceKind::cpu>(call, 1);
}

/// What one variant has kept is nothing to another one that is timed in turns with it.
TEST_F(Kept, MeasuredVariantsDoNotShare) {
  static const Op op{.name = "second_by_two_variants",
                     .summary = "b",
                     .infer = spec_of_the_first,
                     .variants = {{"slow", DeviceKind::cpu, run_slowly, nullptr, 2},
                                  {"negated", DeviceKind::cpu, run_negated, nullptr, 1}}};
  VariantCache::clear();
  auto f = compile([this](Tensor x) { return x + apply(op, {a_, b_})[0]; });
  auto expect_sum = [&] { EXPECT_EQ(f(x_).to_vector<float>(), (x_ + b_).to_vector<float>()); };
  expect_sum();
  const auto program = f.programs()[0].program;
  EXPECT_EQ(program->steps[0].measured.size(), 2u);
  EXPECT_STREQ(program->steps[0].variant->name, "negated");
  const int filled = fills;
  EXPECT_GE(filled, 3);  // one for each that was timed, and one to stay
  for (int i = 0; i < 3; ++i) expect_sum();
  EXPECT_EQ(fills, filled);
}

/// A variant named by the user; none: those of the declared order.
struct Named {
  const char *op, *variant;
};
std::ostream& operator<<(std::ostream& out, const Named& named) { return out << named.op << named.variant; }

class KeptFilters : public testing::TestWithParam<Named> {
 protected:
  KeptFilters() {
    if (*GetParam().op) settings().variants[GetParam().op] = GetParam().variant;
  }
  ~KeptFilters() override { settings().variants.clear(); }

  std::shared_ptr<Module> model_ = make_model("fashion_cnn", 1);
  Tensor x_ = rand({3, 1, 28, 28}), labels_ = full({3}, 4, DType::i64);

  Compiled<OneToOne> predictor() {
    auto predict = [this](Tensor x) {
      NoGrad no_grad;
      return (*model_)(x);
    };
    return compile(OneToOne(predict), kDeclared);
  }
  Compiled<TwoToOne> trainer(Optimizer& optimizer) {
    auto step = [this, &optimizer](Tensor x, Tensor y) {
      optimizer.zero_grad();
      Tensor loss = cross_entropy((*model_)(x), y);
      loss.backward();
      optimizer.step();
      return loss;
    };
    return compile(TwoToOne(step), kDeclared);
  }
  /// A program that has kept nothing yet gives the bits that this one must give.
  void expect_as_new(Compiled<OneToOne>& predict) {
    const auto wanted = predictor()(x_).to_vector<float>();
    EXPECT_NE(wanted, before_) << "the weights did not change";
    for (int i = 0; i < 2; ++i) EXPECT_EQ(predict(x_).to_vector<float>(), wanted);
    before_ = wanted;
  }

 private:
  std::vector<float> before_;
};

TEST_P(KeptFilters, FollowTheWeights) {
  auto predict = predictor();
  expect_as_new(predict);
  Sgd sgd(model_->named_parameters(), 0.1);
  auto step = trainer(sgd);
  for (int i = 0; i < 3; ++i) {
    step(x_, labels_);  // a compiled update
    expect_as_new(predict);
  }
  sgd.zero_grad();
  cross_entropy((*model_)(x_), labels_).backward();
  sgd.step();  // an eager one
  expect_as_new(predict);
  for (const NamedTensor& parameter : model_->named_parameters()) {
    NoGrad no_grad;
    copy_into(parameter.tensor.detach(), parameter.tensor.detach() * 1.25);
    expect_as_new(predict);
  }
  model_->load_state_dict(make_model("fashion_cnn", 2)->state_dict());
  expect_as_new(predict);
  for (const NamedTensor& parameter : model_->named_parameters()) {
    NoGrad no_grad;
    Tensor moved = parameter.tensor;
    moved.assign((parameter.tensor.detach() * 0.75).set_requires_grad());
    expect_as_new(predict);
  }
  EXPECT_EQ(predict.programs().size(), 1u);
}

TEST_P(KeptFilters, AreThoseOfEagerCalls) {
  auto predict = predictor();
  NoGrad no_grad;
  expect_logits("fashion_cnn", *model_, x_, (*model_)(x_).to_vector<float>());
  for (int i = 0; i < 3; ++i) expect_logits("fashion_cnn", *model_, x_, predict(x_).to_vector<float>());
}

/// A training program makes them in scratch, which shares the arena, and holds nothing beside it.
TEST_P(KeptFilters, AreNotKeptInTraining) {
  Sgd sgd(model_->named_parameters(), 0.1);
  auto step = trainer(sgd);
  for (int i = 0; i < 3; ++i) step(x_, labels_);
  ProgramReport report = step.programs()[0];
  ProgramInstance instance(std::const_pointer_cast<Program>(report.program), false);
  std::array<Tensor, 2> arguments{x_, labels_};
  Tensor loss;
  for (int i = 0; i < 3; ++i) instance.run(arguments, {&loss, 1});
  EXPECT_EQ(instance.memory_bytes(), instance.arena().bytes() + report.program->statistics.output_bytes);
}

INSTANTIATE_TEST_SUITE_P(All, KeptFilters,
                         testing::Values(Named{"", ""}, Named{"conv2d_max_pool2d", "tiled"},
                                         Named{"conv2d_max_pool2d", "rows"},
                                         Named{"conv2d_max_pool2d", "loop"}, Named{"conv2d", "im2col"}),
                         [](const auto& info) {
                           return *info.param.op ? std::string(info.param.op) + "_" + info.param.variant
                                                 : std::string("declared");
                         });

/// The outputs of the program's fused convolutions.
template <class F>
std::vector<size_t> results_of_blocks(const Compiled<F>& f) {
  std::vector<size_t> counts;
  for (const ProgramStep& step : f.programs()[0].program->steps)
    if (step.op->name == "conv2d_max_pool2d") counts.push_back(step.outputs.size());
  return counts;
}

TEST(Choices, AreMadeForGradientsOnly) {
  using Counts = std::vector<size_t>;
  auto model = make_model("fashion_cnn", 1);
  Tensor x = rand({3, 1, 28, 28});
  auto forward = [&](Tensor images) { return (*model)(images); };
  auto predict = compile(forward, kDeclared), in_gradient_mode = compile(forward, kDeclared);
  auto step = compile(
      [&](Tensor images) {
        Tensor loss = sum((*model)(images));
        loss.backward();
        return loss;
      },
      kDeclared);
  const auto wanted = in_gradient_mode(x).to_vector<float>();  // nobody asks for one there
  EXPECT_EQ(results_of_blocks(in_gradient_mode), (Counts{1, 1}));
  step(x);
  EXPECT_EQ(results_of_blocks(step), (Counts{2, 2}));
  NoGrad no_grad;
  EXPECT_EQ(predict(x).to_vector<float>(), wanted);
  EXPECT_EQ(results_of_blocks(predict), (Counts{1, 1}));
}

}  // namespace
}  // namespace treadle
