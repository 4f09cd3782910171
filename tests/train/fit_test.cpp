/// The training loop: every image once, resuming, NaN, interruption, checkpoints.
#include "treadle/train/classification/fit_classifier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/compile/restored_settings.h"
#include "tests/formats/temporary_folder.h"
#include "tests/goldens/golden_numbers.h"
#include "tests/train/bright_quarters.h"
#include "tests/train/told.h"
#include "treadle/core/error.h"
#include "treadle/formats/safetensors.h"
#include "treadle/models/model.h"
#include "treadle/optim/adam/adam.h"
#include "treadle/optim/sgd/sgd.h"

namespace treadle {
namespace {

namespace fs = std::filesystem;

class Fit : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("treadle_fit_test_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  ClassifierOptions options(int64_t epochs) const {
    ClassifierOptions o;
    o.epochs = epochs;
    o.batch_size = 24;
    o.seed = 3;
    o.description.model = "mlp";
    o.description.classes = data_.train.classes;
    o.description.input = {1, 28, 28};
    o.description.dataset = "quarters";
    return o;
  }

  /// Trains a fresh mlp with Adam.
  FitResult train(ClassifierOptions o, double rate = 1e-3) {
    auto model = make_model("mlp", 5);
    Adam optimizer(model->named_parameters(), rate);
    RunFolder folder(folder_);
    o.folder = &folder;
    return fit_classifier(*model, optimizer, Schedule::named("cosine", rate, {3 * 5}), data_, o);
  }

  DatasetSplits data_{bright_quarters(100, 1), bright_quarters(60, 2), {}};
  fs::path folder_;
  DeterministicRuns equal_bits_;
};

TEST_F(Fit, LearnsAndCountsEveryImage) {
  int64_t images = 0;
  ClassifierOptions o = options(3);
  Told told;
  o.callbacks.push_back(&told);
  told.on_step = [&](const StepReport& report) {
    if (report.step_in_epoch == report.steps_in_epoch) images += report.examples_done;
  };
  FitResult result = train(o);
  EXPECT_EQ(result.losses.size(), 15u);  // 4 batches of 24 and one of 4, three times
  EXPECT_EQ(images, 300);
  EXPECT_LT(result.losses.back(), result.losses.front());
  EXPECT_GT(result.test["accuracy"], 0.9);
}

TEST_F(Fit, SavesACheckpointThatGivesTheSameAccuracy) {
  FitResult result = train(options(2));
  Checkpoint checkpoint = load_checkpoint(folder_ / "last.safetensors");
  EXPECT_EQ(checkpoint.model, "mlp");
  EXPECT_EQ(checkpoint.epoch, 2);
  EXPECT_EQ(checkpoint.step, 10);
  auto model = make_model("mlp");
  model->load_state_dict(checkpoint.parameters);
  EXPECT_EQ(evaluate(*model, data_.test, {}, kCpu).accuracy, result.test["accuracy"]);
  EXPECT_FALSE(fs::exists(folder_ / "best.safetensors"));  // no part to choose it on
}

TEST_F(Fit, ResumingAfterAnEpochGivesTheSameLosses) {
  auto whole = train(options(3)).losses;
  train(options(1));
  Checkpoint checkpoint = load_checkpoint(folder_ / "last.safetensors");
  ClassifierOptions o = options(3);
  o.resume = &checkpoint;
  auto rest = train(o).losses;
  ASSERT_EQ(rest.size(), 10u);
  EXPECT_EQ(rest, std::vector<double>(whole.begin() + 5, whole.end()));
}

TEST_F(Fit, ALimitOfStepsEndsTheRunWithinAnEpoch) {
  auto whole = train(options(3)).losses;
  ClassifierOptions o = options(3);
  o.max_steps = 7;
  FitResult cut = train(o);
  EXPECT_EQ(cut.losses, std::vector<double>(whole.begin(), whole.begin() + 7));
  EXPECT_EQ(cut.epochs_done, 2);
  EXPECT_EQ(evaluation_of(cut.test).total.size(), 10u);
  Checkpoint checkpoint = load_checkpoint(folder_ / "last.safetensors");
  EXPECT_EQ(checkpoint.step, 7);
  o.resume = &checkpoint;
  FitResult again = train(o);  // nothing is left
  EXPECT_TRUE(again.losses.empty());
  EXPECT_EQ(again.test["accuracy"], cut.test["accuracy"]);
}

TEST_F(Fit, ALimitOfStepsHoldsAcrossAnInterruption) {
  auto whole = train(options(3)).losses;
  std::stop_source stop;
  ClassifierOptions o = options(3);
  o.max_steps = 8;
  o.stop = stop.get_token();
  Told told;
  o.callbacks.push_back(&told);
  told.on_step = [&](const StepReport& report) {
    if (report.epoch == 1 && report.step_in_epoch == 1) stop.request_stop();
  };
  EXPECT_TRUE(train(o).interrupted);
  Checkpoint checkpoint = load_checkpoint(folder_ / "last.safetensors");
  ClassifierOptions again = options(3);
  again.max_steps = 8;
  again.resume = &checkpoint;
  EXPECT_EQ(train(again).losses, std::vector<double>(whole.begin() + 6, whole.begin() + 8));
}

TEST_F(Fit, TestsOnceWhenAskedTo) {
  double accuracy = train(options(3)).test["accuracy"];
  ClassifierOptions o = options(3);
  o.test_last_only = true;
  std::vector<size_t> classes_told;
  Told told;
  o.callbacks.push_back(&told);
  told.on_epoch = [&](const EpochReport& report) {
    classes_told.push_back(evaluation_of(report.test).total.size());
    EXPECT_FALSE(report.best);
  };
  EXPECT_EQ(train(o).test["accuracy"], accuracy);
  EXPECT_EQ(classes_told, (std::vector<size_t>{0, 0, 10}));
}

TEST_F(Fit, InterruptionSavesTheMiddleOfAnEpoch) {
  auto whole = train(options(3)).losses;
  std::stop_source stop;
  ClassifierOptions o = options(3);
  o.stop = stop.get_token();
  Told told;
  o.callbacks.push_back(&told);
  told.on_step = [&](const StepReport& report) {
    if (report.epoch == 1 && report.step_in_epoch == 2) stop.request_stop();
  };
  FitResult first = train(o);
  EXPECT_TRUE(first.interrupted);
  EXPECT_EQ(first.losses.size(), 7u);
  Checkpoint checkpoint = load_checkpoint(folder_ / "last.safetensors");
  ClassifierOptions again = options(3);
  again.resume = &checkpoint;
  auto rest = train(again).losses;
  EXPECT_EQ(rest, std::vector<double>(whole.begin() + 7, whole.end()));
}

TEST_F(Fit, NaNStopsAndKeepsTheLastCheckpoint) {
  train(options(1));
  auto before = fs::last_write_time(folder_ / "last.safetensors");
  auto model = make_model("mlp", 5);
  Sgd optimizer(model->named_parameters(), 1e30);
  RunFolder folder(folder_);
  ClassifierOptions o = options(1);
  o.folder = &folder;
  try {
    fit_classifier(*model, optimizer, Schedule::named("constant", 1e30), data_, o);
    FAIL() << "no exception";
  } catch (const TrainingError& error) {
    EXPECT_NE(std::string(error.what()).find("at step"), std::string::npos) << error.what();
  }
  EXPECT_EQ(fs::last_write_time(folder_ / "last.safetensors"), before);
}

TEST_F(Fit, RefusesOtherFilesAndVersions) {
  std::vector<SafetensorsEntry> entries{{"fc1.weight", Tensor::zeros({2})}};
  save_safetensors(folder_ / "plain.safetensors", entries);
  EXPECT_THROW(load_checkpoint(folder_ / "plain.safetensors"), FormatError);
  save_safetensors(folder_ / "future.safetensors", entries,
                   {{"treadle.format_version", "99"}, {"treadle.checkpoint", "{}"}});
  try {
    load_checkpoint(folder_ / "future.safetensors");
    FAIL() << "no exception";
  } catch (const FormatError& error) {
    EXPECT_NE(std::string(error.what()).find("version 99"), std::string::npos) << error.what();
  }
  save_safetensors(folder_ / "damaged.safetensors", entries,
                   {{"treadle.format_version", "1"}, {"treadle.checkpoint", "{"}});
  EXPECT_THROW(load_checkpoint(folder_ / "damaged.safetensors"), FormatError);
}

TEST_F(Fit, RefusesDamagedCheckpoints) {
  train(options(1));
  const SafetensorsFile good = load_safetensors(folder_ / "last.safetensors");
  const fs::path path = folder_ / "damaged.safetensors";
  auto expect_refused = [&](const SafetensorsFile& file, const std::string& says) {
    save_safetensors(path, file.entries, file.metadata);
    expect_error<FormatError>([&] { load_checkpoint(path); }, {path.string(), says});
  };
  auto with_sampler = [&](const Tensor& state) {
    SafetensorsFile file = good;
    for (auto& [name, tensor] : file.entries)
      if (name == "treadle.sampler") tensor = state;
    return file;
  };
  expect_refused(with_sampler(Tensor::zeros({2})), "the sampler's state is f32, expected i64");
  expect_refused(with_sampler(Tensor::zeros({3}, DType::i64)), "3 numbers, expected 2");
  SafetensorsFile flat = good;
  auto description = nlohmann::json::parse(flat.metadata["treadle.checkpoint"]);
  description["input"] = std::vector<int64_t>(8, 1);
  flat.metadata["treadle.checkpoint"] = description.dump();
  expect_refused(flat, "8 extents, at most 7");
}

TEST_F(Fit, RefusesToResumeWhatDoesNotFit) {
  train(options(1));
  const Checkpoint good = load_checkpoint(folder_ / "last.safetensors");
  auto resume = [&](Checkpoint checkpoint) {
    ClassifierOptions o = options(2);
    o.resume = &checkpoint;
    train(o);
  };
  Checkpoint other = good, far = good;
  other.parameters.pop_back(), far.step = 100;
  expect_error<FormatError>([&] { resume(other); }, {"does not fit", "the state to load has no"});
  expect_error<FormatError>([&] { resume(far); }, {"step 100 of epoch 2", "5 steps per epoch"});
}

/// The first step's loss is finite, and the weights that it leaves are not.
TEST_F(Fit, WeightsThatAreNotFiniteAreNotSaved) {
  std::stop_source stop;
  for (bool stopped : {false, true}) {
    auto model = make_model("mlp", 5);
    Sgd optimizer(model->named_parameters(), 1e39);
    RunFolder folder(folder_);
    ClassifierOptions o = options(1);
    o.folder = &folder, o.max_steps = 1, o.stop = stop.get_token();
    Told told;
    o.callbacks.push_back(&told);
    told.on_step = [&](const StepReport&) {
      if (stopped) stop.request_stop();
    };
    expect_error<TrainingError>(
        [&] { fit_classifier(*model, optimizer, Schedule::named("constant", 1e39), data_, o); },
        {stopped ? "after step 1 (epoch 1)" : "the test loss is"});
    EXPECT_FALSE(fs::exists(folder_ / "last.safetensors"));
  }
}

TEST_F(Fit, ARunThatIsStoppedBeforeItsFirstStepSavesNothing) {
  std::stop_source stop;
  stop.request_stop();
  ClassifierOptions o = options(1);
  o.stop = stop.get_token();
  EXPECT_TRUE(train(o).interrupted);
  EXPECT_FALSE(fs::exists(folder_ / "last.safetensors"));
}

TEST_F(Fit, TrainsOnTheCudaKernelsAsOnTheCpu) {
  ClassifierOptions o = options(1);
  auto on_cpu = train(o).losses;
  o.device = kSimt;
  auto model = make_model("mlp", 5);
  model->to(kSimt);
  Adam optimizer(model->named_parameters(), 1e-3);
  auto on_simt = fit_classifier(*model, optimizer, Schedule::named("cosine", 1e-3, {15}), data_, o).losses;
  ASSERT_EQ(on_simt.size(), on_cpu.size());
  // Later ones tell nothing: Adam makes differences of the learning rate out of roundings of tiny gradients.
  EXPECT_NEAR(on_simt[0], on_cpu[0], goldens::tolerance(784 + 128 + 10, on_cpu[0]));
  EXPECT_LT(on_simt.back(), on_simt.front());
}

}  // namespace
}  // namespace treadle
