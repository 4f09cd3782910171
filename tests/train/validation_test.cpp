/// The validation part chooses the best weights; the test set chooses nothing.
#include <gtest/gtest.h>

#include "tests/compile/restored_settings.h"
#include "tests/formats/temporary_folder.h"
#include "tests/train/bright_quarters.h"
#include "tests/train/told.h"
#include "treadle/models/model.h"
#include "treadle/optim/adam/adam.h"
#include "treadle/optim/schedules/reduce_on_plateau.h"
#include "treadle/train/classification/fit_classifier.h"

namespace treadle {
namespace {

constexpr double kValidatedRate = 1e-4;
constexpr int64_t kEpochs = 4;

/// Validation images with the label of another quarter: the better a model is, the worse it is on them.
ImageDataset wrong_quarters(int64_t size, uint64_t seed) {
  ImageDataset data = bright_quarters(size, seed);
  for (int32_t& label : data.labels) label = (label + 1) % 4;
  return data;
}

class Validation : public testing::Test {
 protected:
  ClassifierOptions options(int64_t epochs) {
    ClassifierOptions o;
    o.epochs = epochs;
    o.batch_size = 24;
    o.seed = 3;
    o.description.model = "mlp";
    o.description.classes = data_.train.classes;
    o.description.input = {1, 28, 28};
    o.callbacks.push_back(&told_);
    told_.on_epoch = [this](const EpochReport& report) { reports_.push_back(report); };
    return o;
  }

  FitResult train(ClassifierOptions o) {
    model_ = make_model("mlp", 5);
    Adam optimizer(model_->named_parameters(), kValidatedRate);
    RunFolder folder(folder_.path());
    o.folder = &folder;
    return fit_classifier(*model_, optimizer, schedule_, data_, o);
  }

  FitResult resume(ClassifierOptions o) {
    Checkpoint last = load_checkpoint(folder_ / "last.safetensors");
    o.resume = &last;
    return train(o);
  }

  double accuracy_of(const std::filesystem::path& file) {
    auto model = make_model("mlp");
    model->load_state_dict(load_checkpoint(file).parameters);
    return evaluate(*model, data_.test, {}, kCpu).accuracy;
  }

  Schedule schedule_ = Schedule::named("constant", kValidatedRate);
  DatasetSplits data_{bright_quarters(100, 1), bright_quarters(300, 2), wrong_quarters(200, 4)};
  TemporaryFolder folder_;
  std::shared_ptr<Module> model_;
  std::vector<EpochReport> reports_;
  Told told_;
  DeterministicRuns equal_bits_;
};

TEST_F(Validation, ChoosesTheBestAndTheTestSetDoesNot) {
  FitResult result = train(options(kEpochs));
  ASSERT_EQ(reports_.size(), size_t(kEpochs));
  int64_t best = 0;
  for (int64_t i = 1; i < kEpochs; ++i)
    if (reports_[size_t(i)].validation["accuracy"] > reports_[size_t(best)].validation["accuracy"]) best = i;
  EXPECT_EQ(result.best_epoch, best + 1);
  // The test images would have chosen otherwise.
  EXPECT_GT(reports_.back().test["accuracy"], reports_[size_t(best)].test["accuracy"]);
  EXPECT_EQ(result.test["accuracy"], reports_[size_t(best)].test["accuracy"]);
  EXPECT_EQ(result.validation["accuracy"], reports_[size_t(best)].validation["accuracy"]);
  EXPECT_EQ(accuracy_of(folder_ / "best.safetensors"), result.test["accuracy"]);
  EXPECT_EQ(accuracy_of(folder_ / "last.safetensors"), reports_.back().test["accuracy"]);
  EXPECT_EQ(evaluate(*model_, data_.test, {}, kCpu).accuracy, result.test["accuracy"]);
  EXPECT_EQ(RunFolder::model_file(folder_.path()), folder_ / "best.safetensors");
}

TEST_F(Validation, TestFiguresAreThoseOfTheBestWeightsAlsoWhenTestedOnce) {
  double accuracy = train(options(kEpochs)).test["accuracy"];
  ClassifierOptions o = options(kEpochs);
  o.test_last_only = true;
  FitResult result = train(o);
  EXPECT_EQ(result.test["accuracy"], accuracy);
  EXPECT_LT(result.best_epoch, kEpochs);
}

TEST_F(Validation, WithoutItTheModelIsTheLastEpochs) {
  data_.validation = {};
  FitResult result = train(options(kEpochs));
  EXPECT_EQ(result.best_epoch, 0);
  EXPECT_TRUE(result.validation.empty());
  EXPECT_EQ(result.test["accuracy"], reports_.back().test["accuracy"]);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "best.safetensors"));
  EXPECT_EQ(RunFolder::model_file(folder_.path()), folder_ / "last.safetensors");
}

/// The part gets worse from some epoch on: then each epoch halves the rate, in a run that is resumed, too.
TEST_F(Validation, AScheduleFollowsIt) {
  schedule_ = Schedule(ReduceOnPlateauSchedule{.gamma = 0.5, .patience = 0}, kValidatedRate);
  FitResult whole = train(options(kEpochs));
  double rate = kValidatedRate, best = 0;
  for (const EpochReport& report : reports_) {
    EXPECT_EQ(report.learning_rate, rate) << report.epoch;
    const double accuracy = report.validation["accuracy"];
    if (accuracy <= best) rate /= 2;
    best = std::max(best, accuracy);
  }
  EXPECT_LT(reports_.back().learning_rate, kValidatedRate);
  train(options(3));
  const FitResult rest = resume(options(kEpochs));
  const auto tail = whole.losses.end() - int64_t(rest.losses.size());
  EXPECT_EQ(rest.losses, std::vector<double>(tail, whole.losses.end()));
  EXPECT_EQ(reports_.back().learning_rate, reports_[size_t(kEpochs) - 1].learning_rate);
}

TEST_F(Validation, AScheduleThatFollowsItNeedsIt) {
  schedule_ = Schedule(ReduceOnPlateauSchedule(), kValidatedRate);
  data_.validation = {};
  EXPECT_THROW(train(options(1)), ValueError);
  data_.validation = wrong_quarters(200, 4);
  train(options(1));
  Checkpoint last = load_checkpoint(folder_ / "last.safetensors");
  last.progress.schedule = {1, 2};
  ClassifierOptions o = options(2);
  o.resume = &last;
  EXPECT_THROW(train(o), FormatError);
}

TEST_F(Validation, AResumedRunKnowsTheBestSoFar) {
  FitResult whole = train(options(kEpochs));
  train(options(2));
  FitResult resumed = resume(options(kEpochs));
  EXPECT_EQ(resumed.best_epoch, whole.best_epoch);
  EXPECT_EQ(resumed.test["accuracy"], whole.test["accuracy"]);
  EXPECT_EQ(resumed.validation["accuracy"], whole.validation["accuracy"]);
  FitResult nothing_left = resume(options(kEpochs));
  EXPECT_TRUE(nothing_left.losses.empty());
  EXPECT_EQ(nothing_left.test["accuracy"], whole.test["accuracy"]);
  EXPECT_EQ(nothing_left.validation["accuracy"], whole.validation["accuracy"]);
}

TEST_F(Validation, AnEpochThatWasInterruptedHasTheMetricsOfAWholeOne) {
  train(options(2));
  double loss = reports_[1].train_loss;
  std::stop_source stop;
  ClassifierOptions o = options(2);
  o.stop = stop.get_token();
  Told told;
  o.callbacks.push_back(&told);
  told.on_step = [&](const StepReport& report) {
    if (report.epoch == 1 && report.step_in_epoch == 3) stop.request_stop();
  };
  EXPECT_TRUE(train(o).interrupted);
  reports_.clear();
  resume(options(2));
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0].train_loss, loss);
  EXPECT_EQ(reports_[0].examples, 100);
}

TEST_F(Validation, AStoppedEvaluationCoversTheImagesSoFar) {
  std::stop_source stop;
  stop.request_stop();
  auto model = make_model("mlp", 5);
  EXPECT_EQ(evaluate(*model, data_.test, {}, kCpu, 50, 0, stop.get_token()).accuracy, 0);
  // Stopped from within: the first batch is seen, the second is not.
  Evaluation first = evaluate(*model, data_.test, {}, kCpu, 50, 50);
  struct StopAfterOne : Module {
    std::shared_ptr<Module> inner;
    std::stop_source& stop;
    StopAfterOne(std::shared_ptr<Module> m, std::stop_source& s) : inner(std::move(m)), stop(s) {}
    std::string describe() const override { return "StopAfterOne"; }
    Tensor forward(const Tensor& x) override {
      stop.request_stop();
      return (*inner)(x);
    }
  };
  std::stop_source inside;
  StopAfterOne stopping(model, inside);
  Evaluation part = evaluate(stopping, data_.test, {}, kCpu, 50, 0, inside.get_token());
  EXPECT_EQ(part.accuracy, first.accuracy);
  EXPECT_EQ(part.loss, first.loss);
}

}  // namespace
}  // namespace treadle
