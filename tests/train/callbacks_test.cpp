/// Callbacks: what they are told, how they end a run, and what they find again when it is resumed.
#include <gtest/gtest.h>

#include "tests/compile/restored_settings.h"
#include "tests/formats/temporary_folder.h"
#include "tests/train/bright_quarters.h"
#include "treadle/core/error.h"
#include "treadle/models/model.h"
#include "treadle/optim/adam/adam.h"
#include "treadle/train/callbacks/csv_log.h"
#include "treadle/train/callbacks/early_stopping.h"
#include "treadle/train/classification/fit_classifier.h"

namespace treadle {
namespace {

class Callbacks : public testing::Test {
 protected:
  FitResult train(std::vector<Callback*> callbacks, int64_t epochs = 3, const Checkpoint* from = nullptr) {
    auto model = make_model("mlp", 5);
    Adam optimizer(model->named_parameters(), 1e-3);
    RunFolder folder(folder_.path());
    ClassifierOptions o;
    o.epochs = epochs, o.batch_size = 24, o.folder = &folder, o.resume = from;
    o.description.model = "mlp";
    o.description.input = {1, 28, 28};
    o.test_last_only = true;
    o.callbacks = std::move(callbacks);
    return fit_classifier(*model, optimizer, Schedule::named("constant", 1e-3), data_, o);
  }
  Checkpoint last() { return load_checkpoint(folder_ / "last.safetensors"); }
  std::string csv() { return read_text(folder_ / "metrics.csv"); }

  DatasetSplits data_{bright_quarters(100, 1), bright_quarters(60, 2), bright_quarters(40, 3)};
  TemporaryFolder folder_;
  DeterministicRuns equal_bits_;
};

/// What it was told, as words.
struct Diary : Callback {
  std::string text;
  void begin_fit(const FitStart& s) override {
    text += fmt::format("begin({}+{}) ", s.epochs_done, s.earlier.size());
  }
  void begin_epoch(int64_t epoch) override { text += fmt::format("epoch{}: ", epoch); }
  void end_step(const StepReport&) override { text += "."; }
  void end_epoch(const EpochReport& report) override {
    text += fmt::format(" end{}({}) ", report.epoch, report.steps);
  }
  void end_fit(const FitResult& result) override { text += fmt::format("done({})", result.epochs_done); }
};

TEST_F(Callbacks, AreToldOfAllInOrder) {
  Diary diary, second;
  train({&diary}, 2);
  EXPECT_EQ(diary.text, "begin(0+0) epoch0: ..... end1(5) epoch1: ..... end2(10) done(2)");
  const Checkpoint state = last();
  train({&second}, 3, &state);
  EXPECT_EQ(second.text, "begin(2+2) epoch2: ..... end3(15) done(3)");
}

EpochReport with_loss(double loss) {
  EpochReport report;
  report.validation.values = {{"loss", loss}};
  return report;
}

TEST(EarlyStoppingTest, EndsAfterEpochsThatAreNoBetter) {
  EarlyStopping stopping({.patience = 2, .min_delta = 0.1});
  auto ends_after = [&](double loss) {
    stopping.end_epoch(with_loss(loss));
    return stopping.wants_end();
  };
  EXPECT_FALSE(ends_after(1.0));
  EXPECT_FALSE(ends_after(0.95));  // better by less than 0.1
  EXPECT_FALSE(ends_after(0.8));   // than the best, not than the last
  EXPECT_FALSE(ends_after(0.9));
  EXPECT_TRUE(ends_after(0.75));
}

TEST(EarlyStoppingTest, AHigherFigureMayBeBetter) {
  EarlyStopping stopping({.higher_is_better = true, .patience = 1});
  for (double loss : {1.0, 2.0, 3.0}) {
    stopping.end_epoch(with_loss(loss));
    EXPECT_FALSE(stopping.wants_end());
  }
  stopping.end_epoch(with_loss(3.0));
  EXPECT_TRUE(stopping.wants_end());
}

TEST(EarlyStoppingTest, RefusesWhatMeansNothing) {
  expect_error<ValueError>([] { EarlyStopping({.patience = 0}); }, {"patience is 0"});
  expect_error<ValueError>([] { EarlyStopping({.min_delta = -1}); }, {"min_delta is -1"});
  EarlyStopping stopping({.figure = "validation_error"});
  expect_error<ValueError>([&] { stopping.end_epoch(with_loss(1)); }, {"no figure validation_error"});
}

TEST_F(Callbacks, ARunThatEndedEarlyEndsThereWhenItIsResumed) {
  EarlyStopping stopping({.patience = 2, .min_delta = 100}), again = stopping,
                                                             patient({.patience = 3, .min_delta = 100});
  EXPECT_EQ(train({&stopping}, 9).epochs_done, 3);
  const Checkpoint state = last();
  EXPECT_EQ(train({&again}, 9, &state).losses.size(), 0u);
  EXPECT_EQ(train({&patient}, 9, &state).epochs_done, 4);
}

TEST_F(Callbacks, TheCsvHasARowForEachEpoch) {
  CsvLog log(folder_ / "metrics.csv");
  train({&log});
  const std::string text = csv();
  EXPECT_TRUE(
      text.starts_with("epoch,learning_rate,seconds,test_accuracy,test_loss,train_loss,validation_accuracy,"
                       "validation_loss\n1,0.001,"))
      << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  EXPECT_NE(text.find(",,,"), text.npos) << "the first epochs have no test";
}

TEST_F(Callbacks, TheCsvOfAResumedRunIsWhole) {
  CsvLog log(folder_ / "metrics.csv"), after(folder_ / "metrics.csv"), finished(folder_ / "metrics.csv");
  train({&log}, 2);
  write_bytes(folder_ / "metrics.csv", "epoch,seconds\n1,");  // killed while it was written
  Checkpoint state = last();
  train({&after}, 3, &state);
  const std::string text = csv();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  EXPECT_NE(text.find("\n3,"), text.npos);
  write_bytes(folder_ / "metrics.csv", "epoch,seconds\n1,");
  state = last();
  train({&finished}, 3, &state);  // nothing is left to do
  EXPECT_EQ(csv(), text);
}

}  // namespace
}  // namespace treadle
