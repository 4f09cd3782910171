/// Several threads call compiled functions: calls that update anything run one after another, others at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/compile/network_bounds.h"
#include "treadle/compile/compile.h"
#include "treadle/graph/autograd.h"
#include "treadle/models/model.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/optim/sgd/sgd.h"

namespace treadle {
namespace {

void in_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
  for (auto& thread : threads) thread.join();
}

/// Each call takes half of the sum of x's rows from the weight: exact, in any order.
struct Countdown {
  Tensor w = Tensor::zeros({4}).set_requires_grad();
  std::shared_ptr<Sgd> sgd = std::make_shared<Sgd>(std::vector<NamedTensor>{{"w", w}}, 0.5);
  Tensor operator()(const Tensor& x) {
    sgd->zero_grad();
    Tensor loss = sum(x * w);
    loss.backward();
    sgd->step();
    return loss;
  }
};

/// Large enough that calls overlap.
int64_t rows_of(int thread, int call) { return 1000 * (thread * 7 + call % 7 + 1); }

TEST(Threads, TrainOneFunctionWithBatchesOfSeveralSizes) {
  constexpr int kThreads = 4, kCalls = 28;
  for (bool measure : {false, true}) {
    Countdown countdown;
    CompileOptions options;
    options.measure = measure;
    auto step = compile([&](Tensor x) { return countdown(x); }, options);
    in_threads(kThreads, [&](int thread) {
      for (int i = 0; i < kCalls; ++i) step(full({rows_of(thread, i), 4}, 1));
    });
    double rows = 0;
    for (int thread = 0; thread < kThreads; ++thread)
      for (int i = 0; i < kCalls; ++i) rows += double(rows_of(thread, i));
    EXPECT_EQ(countdown.w.to_doubles(), std::vector<double>(4, -rows / 2)) << "measured: " << measure;
    EXPECT_EQ(countdown.sgd->step_count(), kThreads * kCalls);
    EXPECT_EQ(step.programs().size(), 28u);
  }
}

TEST(Threads, LeaveGradientsInOneLeaf) {
  Tensor w = Tensor::zeros({4}).set_requires_grad();
  auto step = compile(
      [&](Tensor x) {
        w.set_grad({});
        Tensor loss = sum(x * w);
        loss.backward();
        return loss;
      },
      {.measure = false});
  in_threads(4, [&](int thread) {
    for (int i = 0; i < 300; ++i) step(full({4}, thread + 1));
  });
  double value = w.grad().to_doubles()[0];
  EXPECT_TRUE(value >= 1 && value <= 4) << value;
  EXPECT_EQ(w.grad().to_doubles(), std::vector<double>(4, value));
}

TEST(Threads, AddGradientsInOneLeaf) {
  Tensor w = Tensor::zeros({4}).set_requires_grad();
  auto step = compile([&](Tensor x) { sum(x * w).backward(); }, {.measure = false});
  in_threads(3, [&](int) {
    for (int i = 0; i < 40; ++i) step(full({4}, 1));
  });
  EXPECT_EQ(w.grad().to_doubles(), std::vector<double>(4, 120));
}

TEST(Threads, RecordDifferentFunctionsOverOneModel) {
  auto model = make_model("mlp", 3);
  Generator generator(5);
  Tensor x = rand({3, 1, 28, 28}, DType::f32, kCpu, generator);
  NoGrad no_grad;
  auto wanted = (*model)(x).to_vector<float>();
  std::vector<int> different(4, 0);
  in_threads(4, [&](int thread) {
    NoGrad no_grad_here;
    for (int repeat = 0; repeat < 5; ++repeat) {
      auto predict = compile([&](Tensor images) { return (*model)(images) * double(thread + 1); },
                             {.measure = false, .fuse = false});
      for (int call = 0; call < 3; ++call) {
        auto got = predict(x).to_vector<float>();
        for (size_t i = 0; i < got.size(); ++i)
          different[size_t(thread)] += got[i] != wanted[i] * float(thread + 1);
      }
    }
  });
  EXPECT_EQ(different, std::vector<int>(4, 0));
}

/// While a program that trains is measured, and while it updates, others read the weights as they were before
/// a step or as they are after it.
TEST(Threads, PredictWhileOthersMeasureAndTrain) {
  constexpr int kSteps = 4, kThreads = 2;
  auto model = make_model("mlp", 3);
  auto sgd = std::make_shared<Sgd>(model->named_parameters(), 0.1);
  auto predict = compile([&](Tensor x) { return (*model)(x); }, {.measure = false});
  auto step = compile([&](Tensor x, Tensor y) {
    sgd->zero_grad();
    Tensor loss = cross_entropy((*model)(x), y);
    loss.backward();
    sgd->step();
    return loss;
  });
  Generator generator(5);
  const Tensor x = rand({8, 1, 28, 28}, DType::f32, kCpu, generator), y = full({8}, 3, DType::i64);
  auto now = [&] {
    NoGrad no_grad;
    return predict(x).to_vector<float>();
  };
  std::vector<std::vector<float>> states{now()};
  std::vector<std::vector<std::vector<float>>> seen(kThreads);
  std::atomic<bool> done = false;
  in_threads(kThreads + 1, [&](int thread) {
    if (thread < kThreads) {
      while (!done) seen[size_t(thread)].push_back(now());
      return;
    }
    for (int i = 0; i < kSteps; ++i) {
      step(x, y);
      states.push_back(now());
    }
    done = true;
  });
  for (const auto& values : seen)
    for (const auto& value : values)
      ASSERT_EQ(std::count(states.begin(), states.end(), value), 1) << "neither before nor after a step";
}

TEST(Threads, ReadWhileOthersRecord) {
  auto model = make_model("mlp", 3);
  auto predict = compile([&](Tensor x) { return (*model)(x); }, {.measure = false});
  NetworkBounds bounds(stages_of("mlp"), largest_growth());
  bounds.evaluate(model->named_parameters(), full({1, 1, 28, 28}, 0.5));
  const Bounded& wanted = bounds.logits();
  std::vector<int> wrong(4, 0);
  in_threads(4, [&](int thread) {
    NoGrad no_grad;
    for (int64_t i = 0; i < 24; ++i) {
      int64_t rows = 1 + (i + thread) % 6;
      Tensor y = predict(full({rows, 1, 28, 28}, 0.5));
      auto values = y.to_vector<float>();
      wrong[size_t(thread)] += y.size(0) != rows;
      for (size_t k = 0; k < values.size(); ++k)
        wrong[size_t(thread)] += std::abs(values[k] - wanted.values[k % 10]) > wanted.errors[k % 10];
    }
  });
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
  EXPECT_EQ(predict.programs().size(), 6u);
}

}  // namespace
}  // namespace treadle
