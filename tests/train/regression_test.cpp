/// fit() with what is no classifier and no images: a function of two numbers, learnt by its squared error.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/compile/restored_settings.h"
#include "tests/formats/temporary_folder.h"
#include "tests/train/told.h"
#include "treadle/core/error.h"
#include "treadle/data/batches.h"
#include "treadle/graph/autograd.h"
#include "treadle/nn/activation.h"
#include "treadle/nn/linear.h"
#include "treadle/nn/sequential.h"
#include "treadle/ops/loss/mse.h"
#include "treadle/optim/adam/adam.h"
#include "treadle/optim/sgd/sgd.h"
#include "treadle/train/fit.h"
#include "treadle/train/training_step.h"

namespace treadle {
namespace {

constexpr double kRate = 0.01;

/// Points of [-1, 1)² with the value of x₀ x₁ + x₀ / 2.
class Points final : public Examples {
 public:
  Points(int64_t size, uint64_t seed) {
    SplitMix64 random(seed);
    auto coordinate = [&] { return float(random.below(2000)) / 1000 - 1; };
    for (int64_t i = 0; i < size; ++i) points_.push_back({coordinate(), coordinate()});
  }
  int64_t size() const override { return int64_t(points_.size()); }

  std::vector<Tensor> batch(std::span<const int64_t> indices) const override {
    std::vector<float> x, y;
    for (int64_t i : indices) {
      const auto [a, b] = points_[size_t(i)];
      x.insert(x.end(), {a, b}), y.push_back(a * b + a / 2);
    }
    const int64_t count = int64_t(indices.size());
    return {Tensor::from(x, {count, 2}), Tensor::from(y, {count, 1})};
  }

  std::vector<Tensor> all() const {
    std::vector<int64_t> indices(points_.size());
    for (size_t i = 0; i < indices.size(); ++i) indices[i] = int64_t(i);
    return batch(indices);
  }

 private:
  std::vector<std::pair<float, float>> points_;
};

/// A fresh network with its optimizer, and what fit() needs of them.
struct Regression {
  explicit Regression(double rate = kRate, uint64_t seed = 5)
      : generator(seed),
        network({std::make_shared<Linear>(2, 16, true, generator), std::make_shared<ReLU>(),
                 std::make_shared<Linear>(16, 1, true, generator)}),
        optimizer(network.named_parameters(), rate),
        schedule(Schedule::named("constant", rate)) {}

  Metrics error_on(const Points& points) {
    NoGrad no_grad;
    const auto batch = points.all();
    return {{{"loss", mse(network(batch[0]), batch[1]).item()}}};
  }

  FitTask task() {
    FitTask task{network, optimizer, schedule, train};
    task.step = training_step(
        optimizer, [this](std::span<const Tensor> batch) { return mse(network(batch[0]), batch[1]); });
    task.test = [this](std::stop_token) { return error_on(test); };
    return task;
  }

  Generator generator;
  Sequential network;
  Adam optimizer;
  Schedule schedule;
  Points train{200, 1}, test{100, 2}, validation{100, 3};
};

class FitRegression : public testing::Test {
 protected:
  FitOptions options(int64_t epochs) {
    FitOptions o;
    o.epochs = epochs;
    o.batch_size = 32;
    o.seed = 3;
    o.description.model = "points";
    return o;
  }

  /// Fits a fresh network, in the folder.
  FitResult fit_fresh(FitOptions o, bool validates = false) {
    regression_ = std::make_unique<Regression>();
    RunFolder folder(folder_.path());
    o.folder = &folder;
    FitTask task = regression_->task();
    if (validates)
      task.validate = [this](std::stop_token) { return regression_->error_on(regression_->validation); };
    return fit(task, o);
  }

  std::vector<std::vector<float>> weights() const {
    std::vector<std::vector<float>> values;
    for (const Tensor& tensor : regression_->network.parameters())
      values.push_back(tensor.to_vector<float>());
    return values;
  }

  nlohmann::json last_metrics() {
    const std::string text = read_text(folder_ / "metrics.jsonl");
    const size_t begin = text.rfind('\n', text.size() - 2);
    return nlohmann::json::parse(text.substr(begin == text.npos ? 0 : begin + 1));
  }

  std::unique_ptr<Regression> regression_;
  TemporaryFolder folder_;
  DeterministicRuns equal_bits_;
};

TEST_F(FitRegression, Learns) {
  const FitResult result = fit_fresh(options(60));
  EXPECT_EQ(result.losses.size(), 60u * 7);
  EXPECT_LT(result.test["loss"], 0.02);  // the mean square of the function is 0.19
  EXPECT_EQ(last_metrics()["test_loss"], result.test["loss"]);
  EXPECT_FALSE(last_metrics().contains("test_accuracy"));
}

TEST_F(FitRegression, ResumesBitByBit) {
  const FitResult whole = fit_fresh(options(4));
  const auto wanted = weights();
  std::stop_source stop;
  FitOptions cut = options(4);
  cut.stop = stop.get_token();
  Told told;
  cut.callbacks.push_back(&told);
  told.on_step = [&](const StepReport& report) {
    if (report.epoch == 2 && report.step_in_epoch == 3) stop.request_stop();
  };
  EXPECT_TRUE(fit_fresh(cut).interrupted);
  EXPECT_NE(weights(), wanted);
  const Checkpoint last = load_checkpoint(folder_ / "last.safetensors");
  EXPECT_EQ(last.model, "points");
  EXPECT_EQ(last.input.rank(), 0);
  FitOptions rest = options(4);
  rest.resume = &last;
  const FitResult resumed = fit_fresh(rest);
  EXPECT_EQ(resumed.losses, std::vector<double>(whole.losses.begin() + 17, whole.losses.end()));
  EXPECT_EQ(weights(), wanted);
  EXPECT_EQ(resumed.test["loss"], whole.test["loss"]);
}

TEST_F(FitRegression, TheLeastLossIsTheBest) {
  std::vector<double> losses;
  FitOptions o = options(6);
  Told told;
  o.callbacks.push_back(&told);
  told.on_epoch = [&](const EpochReport& report) { losses.push_back(report.validation["loss"]); };
  const FitResult result = fit_fresh(o, true);
  const auto best = std::min_element(losses.begin(), losses.end());
  EXPECT_EQ(result.best_epoch, best - losses.begin() + 1);
  EXPECT_EQ(result.validation["loss"], *best);
  EXPECT_EQ(load_checkpoint(folder_ / "best.safetensors").progress.best_score, *best);
}

TEST_F(FitRegression, WithoutATestNothingIsMeasured) {
  Regression regression;
  FitTask task = regression.task();
  task.test = nullptr;
  const FitResult result = fit(task, options(1));
  EXPECT_TRUE(result.test.empty() && result.validation.empty());
  EXPECT_THROW(result.test["loss"], std::out_of_range);
}

TEST_F(FitRegression, AFigureThatIsNotFiniteIsNamed) {
  Regression regression;
  FitTask task = regression.task();
  task.test = [](std::stop_token) { return Metrics{{{"error", NAN}}}; };
  try {
    fit(task, options(1));
    FAIL() << "no exception";
  } catch (const TrainingError& error) {
    EXPECT_NE(std::string(error.what()).find("the test error is nan after epoch 1 (step 7)"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace treadle
