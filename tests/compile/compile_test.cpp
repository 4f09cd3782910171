/// compile(): a compiled function does what the function does, and says so where it cannot.
#include "treadle/compile/compile.h"
#include "tests/compile/options.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <stdexcept>
#include <thread>

#include "tests/compile/network_bounds.h"
#include "treadle/core/allocator.h"
#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/op.h"
#include "treadle/graph/settings.h"
#include "treadle/models/model.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/optim/sgd/sgd.h"

namespace treadle {
namespace {

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const RecordingError& error) {
    return error.what();
  }
  return "no RecordingError";
}

void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Compile, PointwiseAndReductions) {
  auto f = compile([](Tensor x) { return sum(relu(x * 2.0) + 1.0); }, kDeclared);
  for (int i = 0; i < 4; ++i) {
    Tensor x = Tensor::from({float(i), -1, 2, -3}, {2, 2});
    EXPECT_EQ(f(x).item(), 4 + 2 * (i + 2));
  }
  ASSERT_EQ(f.programs().size(), 1u);
  EXPECT_EQ(f.programs()[0].calls, 4);
}

TEST(Compile, ValuesOfCapturedTensorsAreNotReadWhileRecording) {
  Tensor captured = Tensor::from({2}, {1});
  auto f = compile([&](Tensor x) { return x * captured.item(); }, kDeclared);
  expect_has(message_of([&] { f(Tensor::from({1}, {1})); }), "read it outside of the function");
  auto own = compile([](Tensor x) { return x * Tensor::from({2}, {1}).item(); }, kDeclared);
  EXPECT_EQ(own(Tensor::from({3}, {1})).item(), 6) << "its own constants may be read";
}

TEST(Compile, ResultsOfEarlierCallsStay) {
  auto f = compile([](Tensor x) { return x + 1.0; }, kDeclared);
  Tensor a = f(Tensor::from({1}, {1})), b = f(Tensor::from({2}, {1})), c = f(Tensor::from({3}, {1}));
  EXPECT_EQ(a.item(), 2);
  EXPECT_EQ(b.item(), 3);
  EXPECT_EQ(c.item(), 4);
}

TEST(Compile, SeveralResultsAndViews) {
  auto f = compile(
      [](Tensor x) {
        Tensor y = x * 3.0;
        return std::tuple<Tensor, Tensor, Tensor>(y, transpose(y, 0, 1), x);
      },
      kDeclared);
  Tensor x = Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3});
  auto [y, t, same] = f(x);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{3, 6, 9, 12, 15, 18}));
  EXPECT_EQ(t.to_vector<float>(), (std::vector<float>{3, 12, 6, 15, 9, 18}));
  EXPECT_TRUE(same.same_as(x));
}

TEST(Compile, PartsOfOneTensorAreKeptApart) {
  auto f = compile(
      [](Tensor x) {
        Tensor y = x * 10.0;
        return std::tuple<Tensor, Tensor>(slice(x, 0, 0, 2) - slice(x, 0, 2, 4),
                                          slice(y, 0, 0, 2) - slice(y, 0, 1, 3));
      },
      kDeclared);
  for (int call = 0; call < 3; ++call) {
    auto [of_argument, of_result] = f(Tensor::from({1, 2, 4, 8}, {4}));
    EXPECT_EQ(of_argument.to_vector<float>(), (std::vector<float>{-3, -6}));
    EXPECT_EQ(of_result.to_vector<float>(), (std::vector<float>{-10, -20}));
  }
}

TEST(Compile, NewShapesMakeNewPrograms) {
  auto f = compile([](Tensor x) { return sum(x); }, kDeclared);
  for (int64_t n : {3, 4, 3, 5, 4}) EXPECT_EQ(f(full({n}, 2)).item(), double(2 * n));
  EXPECT_EQ(f.programs().size(), 3u);
}

TEST(Compile, GradientsThatAreLeftBecomeTheLeafs) {
  Tensor w = Tensor::from({1, 2, 3}, {3}).set_requires_grad();
  auto f = compile(
      [&](Tensor x) {
        Tensor loss = sum(w * x);
        loss.backward();
        return loss;
      },
      kDeclared);
  f(Tensor::from({1, 1, 1}, {3}));
  EXPECT_EQ(w.grad().to_vector<float>(), (std::vector<float>{1, 1, 1}));
  f(Tensor::from({1, 2, 3}, {3}));  // accumulates, as eager calls do
  EXPECT_EQ(w.grad().to_vector<float>(), (std::vector<float>{2, 3, 4}));
  f(Tensor::from({1, 0, 0}, {3}));
  EXPECT_EQ(w.grad().to_vector<float>(), (std::vector<float>{3, 3, 4}));
  w.set_grad({});
  f(Tensor::from({5, 5, 5}, {3}));
  EXPECT_EQ(w.grad().to_vector<float>(), (std::vector<float>{5, 5, 5}));
}

TEST(Compile, GradientsOfLeavesMadeInsideStayInside) {
  auto f = compile(
      [](Tensor x) {
        Tensor leaf = (x * 2.0).detach().set_requires_grad();
        sum(leaf * leaf).backward();
        return leaf.grad();
      },
      kDeclared);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(f(Tensor::from({float(i)}, {1})).item(), 4 * i);
  EXPECT_TRUE(f.programs()[0].program->gradients.empty());
}

/// By absolute numbers: eager and compiled could agree in being wrong.
TEST(Compile, LeavesDoNotShareAGradient) {
  Tensor a = Tensor::from({1, 2}, {2}).set_requires_grad(), b = Tensor::from({3, 4}, {2}).set_requires_grad();
  Tensor seen = Tensor::zeros({2});
  auto f = compile(
      [&](Tensor upstream) {
        a.set_grad({}), b.set_grad({});
        (a + b).backward(upstream);
        NoGrad no_grad;
        fill_(a.grad(), 7);
        copy_into(seen, b.grad());
        fill_(b.grad(), 5);
        return upstream * 1.0;
      },
      kDeclared);
  for (int call = 0; call < 4; ++call) {
    Tensor upstream = Tensor::from({1, 10}, {2});
    EXPECT_EQ(f(upstream).to_vector<float>(), (std::vector<float>{1, 10})) << call;
    EXPECT_EQ(seen.to_vector<float>(), (std::vector<float>{1, 10})) << call;
    EXPECT_EQ(a.grad().to_vector<float>(), (std::vector<float>{7, 7})) << call;
    EXPECT_EQ(b.grad().to_vector<float>(), (std::vector<float>{5, 5})) << call;
    fill_(a.grad(), 0);
    EXPECT_EQ(b.grad().to_vector<float>(), (std::vector<float>{5, 5})) << call;
    EXPECT_EQ(upstream.to_vector<float>(), (std::vector<float>{1, 10})) << call;
  }
}

TEST(Compile, GradientOfAnInputIsReturned) {
  auto f = compile(
      [](Tensor x) {
        Tensor leaf = x.detach().set_requires_grad();
        sum(leaf * leaf).backward();
        return leaf.grad();
      },
      kDeclared);
  for (int i = 1; i < 4; ++i)
    EXPECT_EQ(f(full({2}, i)).to_vector<float>(), std::vector<float>(2, float(2 * i)));
}

TEST(Compile, ReadingAValueSaysWhatAndHow) {
  auto f = compile([](Tensor x) { return sum(x).item() > 0 ? x : x * 2.0; }, kDeclared);
  auto text = message_of([&] { f(full({2}, 1)); });
  expect_has(text, "'sum'");
  expect_has(text, "where()");
  EXPECT_EQ((full({2}, 1) * 2.0).to_vector<float>()[0], 2);  // nothing is being recorded any more
}

TEST(Compile, CapturedNumberThatChangedIsNoticed) {
  double factor = 1;
  auto f = compile([&](Tensor x) { return leaky_relu(x, factor); }, kDeclared);
  f(full({2}, 1));
  factor = 2;
  auto text = message_of([&] { f(full({2}, 1)); });
  expect_has(text, "leaky_relu");
  expect_has(text, "was 1, then 2");
}

TEST(Compile, ConstantThatChangedIsNoticed) {
  float number = 1;
  auto f = compile([&](Tensor x) { return x + Tensor::from({number}, {1}); }, kDeclared);
  EXPECT_EQ(f(full({1}, 1)).item(), 2);
  number = 5;
  expect_has(message_of([&] { f(full({1}, 1)); }), "other values");
}

TEST(Compile, OperandsThatChangedAreNoticed) {
  int calls = 0;
  auto f = compile([&](Tensor x, Tensor y) { return calls++ == 0 ? x - y : y - x; }, kDeclared);
  Tensor x = Tensor::from({1, 2}, {2}), y = Tensor::from({3, 4}, {2});
  f(x, y);
  expect_has(message_of([&] { f(x, y); }), "other operands");
}

TEST(Compile, BranchThatChangedIsNoticed) {
  int calls = 0;
  auto f = compile([&](Tensor x) { return calls++ ? x + 1.0 : relu(x + 1.0); }, kDeclared);
  f(full({1}, 1));
  expect_has(message_of([&] { f(full({1}, 1)); }), "steps");
}

TEST(Compile, RandomNumbersGoOnAsEagerOnesDo) {
  auto noise = [](Tensor x) { return x + rand({5}) * randn({5}); };
  auto run = [](auto&& f) {
    default_generator().set_seed(11);
    std::vector<std::vector<float>> all;
    for (int i = 0; i < 4; ++i) all.push_back(f(full({5}, 1)).template to_vector<float>());
    return all;
  };
  auto compiled = run(compile(noise, kDeclared));
  EXPECT_EQ(run(noise), compiled);
  EXPECT_NE(compiled[0], compiled[1]);
  EXPECT_NE(compiled[2], compiled[3]);
  EXPECT_EQ(run(compile(noise)), compiled);  // measuring draws nothing
}

TEST(Compile, RandomNumbersOfLargeSeedsAndPositions) {
  const uint64_t seed = 0x299f31d0a4093822, position = 0x85a308d3243f6a88;
  default_generator() = Generator(seed, position);
  auto noise = compile([](Tensor x) { return x + rand({5}); }, kDeclared);
  std::vector<float> replayed, eager;
  for (int i = 0; i < 4; ++i)
    for (float value : noise(full({5}, 0)).to_vector<float>()) replayed.push_back(value);
  default_generator() = Generator(seed, position);
  for (int i = 0; i < 4; ++i)
    for (float value : rand({5}).to_vector<float>()) eager.push_back(value);
  EXPECT_EQ(replayed, eager);
}

TEST(Compile, CapturedGeneratorThatMovedOnIsNoticed) {
  Generator own(1);
  auto f = compile([&](Tensor x) { return x + rand({1}, DType::f32, kCpu, own); }, kDeclared);
  f(full({1}, 1));
  expect_has(message_of([&] { f(full({1}, 1)); }), "offset was 0, then 1");
}

TEST(Compile, LeakedTensorHasNoValue) {
  Tensor leaked;
  auto f = compile(
      [&](Tensor x) {
        leaked = x + 1.0;
        return leaked * 2.0;
      },
      kDeclared);
  f(full({1}, 1));
  expect_has(message_of([&] { leaked.item(); }), "'add");
  auto g = compile([&](Tensor x) { return x + leaked; }, kDeclared);
  expect_has(message_of([&] { g(full({1}, 1)); }), "earlier recording");
}

TEST(Compile, WritingIntoAnArgumentIsRefused) {
  auto f = compile(
      [](Tensor x) {
        fill_(x, 0);
        return x;
      },
      kDeclared);
  expect_has(message_of([&] { f(full({1}, 1)); }), "argument");
}

TEST(Compile, WritingIntoNumbersOfTheHostIsRefused) {
  auto f = compile(
      [](Tensor x) {
        Tensor numbers = Tensor::from({1, 2}, {2});
        copy_into(numbers, x + numbers);
        return numbers;
      },
      kDeclared);
  expect_has(message_of([&] { f(full({2}, 1)); }), "makes from numbers");
}

TEST(Compile, UndefinedArgumentsAndOtherDevices) {
  auto f = compile([](Tensor x, Tensor y) { return x + y; }, kDeclared);
  EXPECT_THROW(f(full({1}, 1), Tensor()), ValueError);
  EXPECT_THROW(f(full({1}, 1), full({1}, 1, DType::f32, Device{DeviceKind::simt, 0})), DeviceError);
}

/// Cross-entropy of a small network, with its optimizer.
struct Training {
  std::shared_ptr<Module> model;
  std::unique_ptr<Sgd> optimizer;
  explicit Training(const std::string& name, double rate = 0.05, uint64_t seed = 3)
      : model(make_model(name, seed)), optimizer(std::make_unique<Sgd>(model->named_parameters(), rate)) {}

  Tensor operator()(const Tensor& x, const Tensor& labels) {
    optimizer->zero_grad();
    Tensor loss = cross_entropy((*model)(x), labels);
    loss.backward();
    optimizer->step();
    return loss;
  }
};

struct Images {
  Tensor x, labels;
};

Images random_images(int64_t count, uint64_t seed) {
  Generator generator(seed);
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < count; ++i) labels.push_back(int64_t((i * 7 + int64_t(seed)) % 10));
  return {rand({count, 1, 28, 28}, DType::f32, kCpu, generator), Tensor::from(labels, {count})};
}

/// Of ops that are not fused the bits; the bounds of fused ones are in steady_test.cpp.
TEST(Compile, TrainingOfAnMlpEqualsEager) {
  Training eager("mlp"), compiled("mlp");
  auto step = compile([&](Tensor x, Tensor labels) { return compiled(x, labels); },
                      {.measure = false, .fuse = false});
  for (uint64_t i = 0; i < 20; ++i) {
    eager.optimizer->set_learning_rate(0.01 * double(i));
    compiled.optimizer->set_learning_rate(0.01 * double(i));
    auto [x, labels] = random_images(16, i);
    ASSERT_EQ(eager(x, labels).item(), step(x, labels).item()) << "step " << i;
  }
  EXPECT_EQ(compiled.optimizer->step_count(), 20);
}

/// From equal parameters the same gradient moves them in proportion to the rate, but for the rounding of the
/// product and of the difference.
TEST(Compile, LearningRateMayChangeBetweenCalls) {
  Training training("mlp");
  auto step = compile([&](Tensor x, Tensor labels) { return training(x, labels); }, kDeclared);
  auto [x, labels] = random_images(8, 1);
  auto weight = [&] { return training.model->parameters()[0].to_doubles(); };
  std::vector<NamedTensor> start = training.model->state_dict();
  for (NamedTensor& entry : start) entry.tensor = clone(entry.tensor.detach());
  const std::vector<double> before = weight();
  std::vector<double> first;
  for (double factor : {1.0, 2.0, 0.0, 5.0, 1.0}) {
    training.model->load_state_dict(start);
    training.optimizer->set_learning_rate(0.02 * factor);
    step(x, labels);
    std::vector<double> moved = weight();
    for (size_t i = 0; i < moved.size(); ++i) moved[i] -= before[i];
    if (first.empty()) first = moved;
    for (size_t i = 0; i < moved.size(); ++i)
      ASSERT_LE(std::abs(moved[i] - factor * first[i]),
                2 * 0x1p-24 * (1 + factor) * (std::abs(before[i]) + std::abs(first[i]) * (1 + factor)))
          << "factor " << factor << ", weight " << i;
  }
  EXPECT_EQ(step.programs().size(), 1u);
}

TEST(Compile, ReplayAfterTheModelIsGone) {
  std::optional<Training> training(std::in_place, "mlp");
  NoGrad no_grad;
  auto predict = compile([&](Tensor x) { return (*training->model)(x); }, kDeclared);
  Tensor x = random_images(4, 1).x;
  auto wanted = predict(x).to_vector<float>();
  predict(x);
  training.reset();
  EXPECT_EQ(predict(x).to_vector<float>(), wanted);
  auto text = message_of([&] { predict(random_images(5, 1).x); });
  expect_has(text, "is gone");
}

TEST(Compile, FailureInAStepLeavesParametersAndCountAlone) {
  Training training("mlp");
  auto step = compile([&](Tensor x, Tensor labels) { return training(x, labels); }, kDeclared);
  auto [x, labels] = random_images(4, 1);
  step(x, labels), step(x, labels);
  auto before = training.model->parameters()[0].to_vector<float>();
  EXPECT_THROW(step(x, full({4}, 10, DType::i64)), ValueError);
  EXPECT_EQ(training.model->parameters()[0].to_vector<float>(), before);
  EXPECT_EQ(training.optimizer->step_count(), 2);
  EXPECT_NO_THROW(step(x, labels));
  EXPECT_EQ(training.optimizer->step_count(), 3);
}

TEST(Compile, ExceptionWhileRecordingLeavesNothingBehind) {
  int calls = 0;
  auto f = compile(
      [&](Tensor x) {
        if (calls++ == 0) throw std::runtime_error("on purpose");
        return x * 2.0;
      },
      kDeclared);
  EXPECT_THROW(f(full({1}, 1)), std::runtime_error);
  EXPECT_EQ(f(full({1}, 3)).item(), 6);
}

TEST(Compile, TwoProgramsOnOneModel) {
  Training training("mlp");
  auto step = compile([&](Tensor x, Tensor labels) { return training(x, labels); }, kDeclared);
  auto loss_of = compile([&](Tensor x, Tensor labels) { return cross_entropy((*training.model)(x), labels); },
                         kDeclared);
  auto [x, labels] = random_images(16, 2);
  double before = INFINITY;
  NetworkBounds bounds(stages_of("mlp"), largest_growth());
  for (int i = 0; i < 5; ++i) {
    bounds.analyse(training.model->named_parameters(), x, labels);
    double loss = [&] {
      NoGrad no_grad;
      return loss_of(x, labels).item();
    }();
    EXPECT_NEAR(loss, bounds.loss(), bounds.loss_error());
    EXPECT_NEAR(step(x, labels).item(), bounds.loss(), bounds.loss_error());
    EXPECT_LT(loss, before);
    before = loss;
  }
}

TEST(Compile, SeveralThreadsOnOneFunction) {
  Training training("mlp");
  auto predict = compile([&](Tensor x) { return (*training.model)(x); }, kDeclared);
  std::vector<std::vector<float>> got(4);
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      NoGrad no_grad;
      for (int repeat = 0; repeat < 20; ++repeat) got[i] = predict(random_images(3, i).x).to_vector<float>();
    });
  for (auto& thread : threads) thread.join();
  for (uint64_t i = 0; i < 4; ++i) expect_logits("mlp", *training.model, random_images(3, i).x, got[i]);
}

TEST(Compile, FrozenParameterMakesAnotherProgram) {
  Training training("mlp");
  auto step = compile([&](Tensor x, Tensor labels) { return training(x, labels); }, kDeclared);
  auto [x, labels] = random_images(4, 1);
  step(x, labels), step(x, labels);
  Tensor weight = training.model->parameters()[0];
  weight.set_requires_grad(false);
  auto before = weight.to_vector<float>();
  step(x, labels), step(x, labels);
  EXPECT_EQ(weight.to_vector<float>(), before);
  EXPECT_EQ(step.programs().size(), 2u);
}

TEST(Compile, ReplaysAllocateNoDeviceMemory) {
  Training training("fashion_cnn");
  auto step = compile([&](Tensor x, Tensor labels) { return training(x, labels); }, kDeclared);
  auto [x, labels] = random_images(8, 1);
  Tensor loss;
  for (int i = 0; i < 4; ++i) loss = step(x, labels), loss = {};
  auto before = allocator(kCpu).statistics();
  for (int i = 0; i < 10; ++i) loss = step(x, labels), loss = {};
  EXPECT_EQ(allocator(kCpu).statistics().allocations, before.allocations);
}

/// Names one variant of an op while it lives.
struct Pinned {
  Pinned(const char* op, const char* variant) { settings().variants[op] = variant; }
  ~Pinned() { settings().variants.clear(); }
};

TEST(Compile, NamedVariantRunsAndIsNotFusedAway) {
  Pinned pinned("conv2d", "loop");
  auto model = make_model("lenet5", 1);
  auto predict = compile([&](Tensor x) { return (*model)(x); });
  predict(random_images(2, 1).x);
  int loops = 0;
  for (const ProgramStep& step : predict.programs()[0].program->steps)
    loops += step.op->name == "conv2d" && std::string(step.variant->name) == "loop";
  EXPECT_EQ(loops, 2);
}

TEST(Compile, NamedVariantOfALossIsNotFusedAway) {
  Pinned pinned("cross_entropy", "loop");
  Tensor x = Tensor::from({1, 2, 3, 4}, {2, 2}).set_requires_grad();
  auto f = compile(
      [&](Tensor labels) {
        x.set_grad({});
        Tensor loss = cross_entropy(x, labels);
        loss.backward();
        return loss;
      },
      kDeclared);
  f(Tensor::from(std::vector<int64_t>{0, 1}, {2}));
  int rows = 0;
  for (const ProgramStep& step : f.programs()[0].program->steps)
    rows += step.op->name == "cross_entropy" && std::string(step.variant->name) == "loop";
  EXPECT_EQ(rows, 1);
}

TEST(Compile, ArenaIsSmallerThanItsParts) {
  Training training("fashion_cnn");
  auto step = compile([&](Tensor x, Tensor labels) { return training(x, labels); }, kDeclared);
  auto [x, labels] = random_images(8, 1);
  step(x, labels);
  auto& statistics = step.programs()[0].program->statistics;
  EXPECT_LT(statistics.arena_bytes, statistics.separate_bytes);
  EXPECT_NE(step.programs()[0].program->to_string().find("arena"), std::string::npos);
}

}  // namespace
}  // namespace treadle
