/// What fails leaves things as they were: while recording, while variants are measured, and in a replay.
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/compile/options.h"
#include "tests/compile/restored_settings.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/settings.h"
#include "treadle/nn/linear.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/optim/sgd/sgd.h"

namespace treadle {
namespace {

Tensor labels(int64_t value) { return full({2}, double(value), DType::i64); }

template <class E>
std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// A step that fails for labels beyond 2, with work before and after.
struct FailingTraining {
  Tensor w = full({3, 4}, 0.5).set_requires_grad();
  Tensor seen = Tensor::zeros({1});
  std::shared_ptr<Sgd> sgd = std::make_shared<Sgd>(std::vector<NamedTensor>{{"w", w}}, 0.5);
  bool counts_first = false;

  Tensor operator()(const Tensor& x, const Tensor& classes) {
    sgd->zero_grad();
    if (counts_first) copy_into(seen, seen + 1.0);
    Tensor one = full({2, 1}, 1);  // written in place, inside
    Tensor loss = cross_entropy(linear(x * one, w), classes);
    loss.backward();
    sgd->step();
    return loss;
  }
};

TEST(Failure, InAReplayTakesRandomNumbersBack) {
  auto f = compile([](Tensor x, Tensor y) { return cross_entropy(x + rand({2, 3}), y); }, kDeclared);
  const Tensor x = full({2, 3}, 1);
  for (int i = 0; i < 3; ++i) f(x, labels(i));
  const uint64_t before = default_generator().offset();
  EXPECT_THROW(f(x, labels(3)), ValueError);
  EXPECT_EQ(default_generator().offset(), before);
  f(x, labels(0));
  EXPECT_GT(default_generator().offset(), before);
}

TEST(Failure, InAReplayBeforeTheFirstUpdateTakesTheStepBack) {
  FailingTraining training;
  auto step = compile([&](Tensor x, Tensor y) { return training(x, y); }, {.measure = false, .fuse = false});
  Tensor x = full({2, 4}, 1);
  for (int i = 0; i < 3; ++i) step(x, labels(i));
  auto before = training.w.to_doubles();
  EXPECT_THROW(step(x, labels(3)), ValueError);
  EXPECT_EQ(training.w.to_doubles(), before);
  EXPECT_EQ(training.sgd->step_count(), 3);
  step(x, labels(0));
  EXPECT_EQ(training.sgd->step_count(), 4);
  EXPECT_NE(training.w.to_doubles(), before);
}

TEST(Failure, InAReplayTakesTheLearningRateBackToo) {
  FailingTraining training;
  training.sgd->set_schedule(Schedule::named("cosine", 0.5, {8}));
  auto step = compile([&](Tensor x, Tensor y) { return training(x, y); }, {.measure = false, .fuse = false});
  Tensor x = full({2, 4}, 1);
  for (int i = 0; i < 3; ++i) step(x, labels(i));
  EXPECT_THROW(step(x, labels(3)), ValueError);
  EXPECT_EQ(training.sgd->learning_rate(), Schedule::named("cosine", 0.5, {8}).at(2));
  step(x, labels(0));
  EXPECT_EQ(training.sgd->learning_rate(), Schedule::named("cosine", 0.5, {8}).at(3));
}

/// Two of them: the second one's step was begun when the first one's update had not been made.
TEST(Failure, InAReplayTakesAllOptimizersBack) {
  FailingTraining training;
  Sgd other({{"w", training.w}}, 0.25);
  auto step = compile(
      [&](Tensor x, Tensor y) {
        Tensor loss = training(x, y);
        other.set_learning_rate(0.125);
        other.step();
        return loss;
      },
      {.measure = false, .fuse = false});
  Tensor x = full({2, 4}, 1);
  step(x, labels(0)), step(x, labels(1));
  other.set_learning_rate(2);
  EXPECT_THROW(step(x, labels(3)), ValueError);
  EXPECT_EQ(training.sgd->step_count(), 2);
  EXPECT_EQ(other.step_count(), 2);
  EXPECT_EQ(other.learning_rate(), 2);
}

TEST(Failure, AfterAnUpdateKeepsWhatWasDone) {
  FailingTraining training;
  training.counts_first = true;
  auto step = compile([&](Tensor x, Tensor y) { return training(x, y); }, kDeclared);
  Tensor x = full({2, 4}, 1);
  step(x, labels(0)), step(x, labels(1));
  EXPECT_THROW(step(x, labels(3)), ValueError);
  EXPECT_EQ(training.seen.item(), 3);
}

TEST(Failure, WhileMeasuringLeavesCapturedTensors) {
  FailingTraining training;
  training.counts_first = true;
  auto step = compile([&](Tensor x, Tensor y) { return training(x, y); });
  auto before = training.w.to_doubles();
  EXPECT_THROW(step(full({2, 4}, 1), labels(3)), ValueError);
  EXPECT_EQ(training.w.to_doubles(), before);
  EXPECT_EQ(training.seen.item(), 0);
  EXPECT_EQ(training.sgd->step_count(), 0);
  step(full({2, 4}, 1), labels(1));
  EXPECT_EQ(training.seen.item(), 1);
  EXPECT_EQ(training.sgd->step_count(), 1);
}

TEST(Failure, MeasuringLeavesCapturedTensors) {
  FailingTraining eager, measured;
  eager.counts_first = measured.counts_first = true;
  auto step = compile([&](Tensor x, Tensor y) { return measured(x, y); });
  for (int i = 0; i < 3; ++i) {
    Tensor x = full({2, 4}, 1 + i);
    copy_into(measured.w.detach(), eager.w.detach());
    const double wanted = eager(x, labels(i)).item();
    // Ten roundings of numbers of at most 64: logits of four products, the exponentials, their sum.
    EXPECT_NEAR(wanted, step(x, labels(i)).item(), 2 * 10 * 64 * 0x1p-24);
    EXPECT_EQ(measured.seen.item(), i + 1);
  }
}

TEST(Failure, InEveryCallWhileRecording) {
  int calls = 0;
  Tensor w = full({2}, 1).set_requires_grad();
  auto f = compile(
      [&](Tensor x) {
        Tensor y = sum(x * w);
        y.backward();
        if (calls++ < 2) throw std::runtime_error("on purpose");
        return y;
      },
      kDeclared);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(f(full({2}, 1)), std::runtime_error);
    EXPECT_FALSE(w.grad().defined());
    EXPECT_TRUE(gradient_mode());
  }
  EXPECT_EQ(f(full({2}, 3)).item(), 6);
  calls = 0;  // now in the second recording
  EXPECT_THROW(f(full({2}, 1)), std::runtime_error);
  EXPECT_EQ(w.grad().to_doubles(), std::vector<double>(2, 3));
}

TEST(Failure, OfATimedReplayLeavesNoObserver) {
  FailingTraining training;
  auto step = compile([&](Tensor x, Tensor y) { return training(x, y); }, kDeclared);
  Tensor x = full({2, 4}, 1), wrong = labels(3);
  step(x, labels(0)), step(x, labels(1));
  Tensor arguments[] = {x, wrong};
  EXPECT_THROW(step.untyped().time_steps(arguments, 3), ValueError);
  EXPECT_NO_THROW(step(x, labels(0)));
}

TEST(Failure, AnotherResultInTheSecondRecording) {
  int calls = 0;
  auto f = compile(
      [&](Tensor x) {
        Tensor a = x + 1.0, b = x + 2.0;
        return calls++ ? a : b;
      },
      kDeclared);
  f(full({1}, 1));
  EXPECT_NE(message_of<RecordingError>([&] { f(full({1}, 1)); }).find("another tensor as result 0"),
            std::string::npos);
}

TEST(Failure, OtherGradientsInTheSecondRecording) {
  int calls = 0;
  Tensor w = full({1}, 1).set_requires_grad();
  auto f = compile(
      [&](Tensor x) {
        Tensor a = x + 1.0, b = x + 2.0;
        w.set_grad(calls++ ? a : b);
      },
      kDeclared);
  f(full({1}, 1));
  EXPECT_NE(message_of<RecordingError>([&] { f(full({1}, 1)); }).find("other gradients"), std::string::npos);
}

TEST(Failure, AnotherCapturedTensorInTheSecondRecording) {
  Tensor mask = full({2}, 1);
  auto f = compile([&](Tensor x) { return x * mask; }, kDeclared);
  f(full({2}, 1));
  mask = full({2}, 2);
  EXPECT_NE(message_of<RecordingError>([&] { f(full({2}, 1)); }).find("another tensor was captured"),
            std::string::npos);
}

TEST(Failure, TensorsOfTwoDevices) {
  Tensor there = full({2}, 1, DType::f32, Device{DeviceKind::simt, 0});
  auto f = compile([&](Tensor x) { return std::pair<Tensor, Tensor>(x + 1.0, there + 1.0); }, kDeclared);
  EXPECT_NE(message_of<RecordingError>([&] { f(full({2}, 1)); }).find("one device"), std::string::npos);
}

TEST(Failure, ReadingACapturedTensorWhileRecording) {
  Tensor temperature = full({1}, 2);
  auto f = compile([&](Tensor x) { return x * temperature.item(); }, kDeclared);
  auto text = message_of<RecordingError>([&] { f(full({2}, 1)); });
  EXPECT_NE(text.find("fixed in the program"), std::string::npos) << text;
  EXPECT_EQ(temperature.item(), 2);
  auto g = compile(
      [&](Tensor x) { return Tensor::from({3}, {1}).item() > temperature.to_string().size() ? x : x * 2.0; },
      kDeclared);
  EXPECT_EQ(g(full({1}, 1)).item(), 2);  // its own numbers, and descriptions, may be read
}

TEST(Failure, AModuleThatTheFunctionMakesIsNotMissed) {
  auto f = compile(
      [](Tensor x) {
        Linear layer(3, 2);
        return layer(x) * 1.0;
      },
      kDeclared);
  NoGrad no_grad;
  for (int64_t rows : {1, 2, 3, 1, 2}) EXPECT_EQ(f(full({rows, 3}, 1)).size(0), rows);
}

TEST(Failure, AVariantThatDoesNotApply) {
  const RestoredSettings restored;
  auto f = compile([](Tensor x) { return relu(x) + 1.0; });
  EXPECT_EQ(f(full({1}, 1)).item(), 2);
  settings().variants = {{"relu", "no such variant"}};
  EXPECT_NE(message_of<ValueError>([&] { f(full({1}, 1)); }).find("no such variant"), std::string::npos);
  settings().variants = {};
  EXPECT_EQ(f(full({1}, 2)).item(), 3);
}

TEST(Failure, RecursionIsRecordedAsOneFunction) {
  std::function<Tensor(Tensor)> again;
  int depth = 0;
  auto f = compile(
      [&](Tensor x) {
        if (depth >= 3) return x + 1.0;
        ++depth;
        Tensor y = again(x) * 2.0;
        --depth;
        return y;
      },
      kDeclared);
  again = [&](Tensor x) { return f(x); };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(f(full({1}, i)).item(), 8 * (i + 1));
}

TEST(Failure, OldProgramsOfMovedTensorsGo) {
  Tensor w = full({2}, 1);
  auto f = compile([&](Tensor x) { return x * w; }, kDeclared);
  for (int i = 0; i < 5; ++i) {
    w.assign(full({2}, i));
    EXPECT_EQ(f(full({2}, 1)).to_doubles(), std::vector<double>(2, i));
    copy_into(w, full({2}, i + 10));  // as load_state_dict does
    EXPECT_EQ(f(full({2}, 1)).to_doubles(), std::vector<double>(2, i + 10));
  }
  EXPECT_EQ(f.programs().size(), 1u);
}

TEST(Failure, WhatCannotBeCompiled) {
  EXPECT_THROW(CompiledFunction(nullptr), ValueError);
  EXPECT_THROW(compile([](Tensor x) { return x; }, {.most_programs = 0}), ValueError);
  auto f = compile([](Tensor x) { return x + 1.0; }, kDeclared);
  EXPECT_THROW(f(Tensor()), ValueError);
  Tensor x = full({1}, 1);
  EXPECT_THROW(f.untyped().time_steps({&x, 1}, 0), ValueError);
  EXPECT_EQ(f.untyped().time_steps({&x, 1}, 1).seconds.size(), 1u);
  auto outer = compile([&](Tensor y) { return f.untyped().time_steps({&y, 1}), y; }, kDeclared);
  EXPECT_THROW(outer(x), RecordingError);
}

TEST(Failure, ProgramsAreBounded) {
  CompileOptions options = kDeclared;
  options.most_programs = 3;
  auto f = compile([](Tensor x) { return sum(x); }, options);
  for (int64_t round = 0; round < 3; ++round)
    for (int64_t n = 1; n < 9; ++n) EXPECT_EQ(f(full({n}, 1)).item(), double(n));
  EXPECT_EQ(f.programs().size(), 3u);
}

}  // namespace
}  // namespace treadle
