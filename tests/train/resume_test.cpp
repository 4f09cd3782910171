/// A run that ends anywhere and is resumed ends with the bits of one that nobody disturbed.
#include <gtest/gtest.h>

#include "tests/compile/restored_settings.h"
#include "tests/formats/temporary_folder.h"
#include "tests/train/bright_quarters.h"
#include "tests/train/numbers_of.h"
#include "tests/train/told.h"
#include "treadle/models/model.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/optim/adam/adam.h"
#include "treadle/train/classification/fit_classifier.h"

namespace treadle {
namespace {

constexpr int64_t kResumeEpochs = 3, kStepsPerEpoch = 5;

/// The images with noise, as dropout would disturb them, before an mlp.
class Noisy : public Module {
 public:
  Noisy() : inner_(register_module("inner", make_model("mlp", 5))) {}
  std::string describe() const override { return "Noisy"; }

 private:
  Tensor forward(const Tensor& x) override { return (*inner_)(is_training() ? x + rand(x.shape()) : x); }
  std::shared_ptr<Module> inner_;
};

/// What a process that is killed does not get to.
struct Killed {};

class Resume : public testing::Test {
 protected:
  FitResult train(ClassifierOptions o) {
    default_generator() = Generator(11, from_ ? 1234 : 0);  // a new process has it somewhere else
    model_ = std::make_unique<Noisy>();
    Adam optimizer(model_->named_parameters(), 1e-3);
    RunFolder folder(folder_.path());
    o.epochs = kResumeEpochs, o.batch_size = 24, o.folder = &folder;
    o.description.model = "noisy";
    o.description.input = {1, 28, 28};
    o.resume = from_ ? &*from_ : nullptr;
    o.callbacks.push_back(&told_);
    told_.on_epoch = [this](const EpochReport& report) { rates_.push_back(report.learning_rate); };
    return fit_classifier(*model_, optimizer,
                          Schedule::named("cosine", 1e-3, {kResumeEpochs * kStepsPerEpoch}), data_, o);
  }

  /// Ends without a word after so many steps, with a state of each step before.
  void train_and_kill(int64_t steps) {
    ClassifierOptions o;
    o.save_every.steps = 1;
    Told told;
    o.callbacks.push_back(&told);
    told.on_step = [&](const StepReport&) {
      if (--steps < 0) throw Killed();
    };
    EXPECT_THROW(train(o), Killed);
  }

  void take_up() { from_ = load_checkpoint(folder_ / "last.safetensors"); }

  std::vector<std::vector<double>> weights() const { return numbers_of(model_->state_dict()); }

  DatasetSplits data_{bright_quarters(100, 1), bright_quarters(20, 2), {}};
  TemporaryFolder folder_;
  std::unique_ptr<Noisy> model_;
  std::optional<Checkpoint> from_;
  std::vector<double> rates_;
  Told told_;
  DeterministicRuns equal_bits_;
};

TEST_F(Resume, GivesTheBitsOfAnUndisturbedRun) {
  train({});
  const auto whole = weights();
  const double last_rate = rates_.back();
  for (int64_t steps : {1, 4, 5, 7, 14}) {
    from_.reset();
    train_and_kill(steps);
    take_up();
    EXPECT_EQ(from_->step, steps);
    train({});
    EXPECT_EQ(weights(), whole) << "after " << steps << " steps";
    EXPECT_EQ(rates_.back(), last_rate);
  }
}

TEST_F(Resume, AnEpochOfWhichNoStepIsLeftKeepsItsLearningRate) {
  train({});
  const auto rates = std::exchange(rates_, {});
  std::stop_source stop;
  ClassifierOptions o;
  o.stop = stop.get_token();
  Told told;
  o.callbacks.push_back(&told);
  told.on_step = [&](const StepReport& report) {
    if (report.step_in_epoch == kStepsPerEpoch) stop.request_stop();
  };
  EXPECT_TRUE(train(o).interrupted);
  take_up();
  train({});
  EXPECT_EQ(rates_, rates);
}

TEST_F(Resume, SavesAfterSoManyStepsAndEachEpoch) {
  std::vector<int64_t> saved;
  ClassifierOptions o;
  o.save_every.steps = 3;
  Told told;
  o.callbacks.push_back(&told);
  told.on_step = [&](const StepReport&) {
    const auto file = folder_ / "last.safetensors";
    saved.push_back(std::filesystem::exists(file) ? load_checkpoint(file).step : 0);
  };
  train(o);
  saved.resize(10);
  EXPECT_EQ(saved, (std::vector<int64_t>{0, 0, 0, 3, 3, 5, 6, 6, 6, 9}));
}

TEST_F(Resume, SavesAfterSoManySeconds) {
  ClassifierOptions o;
  o.save_every.seconds = 1e-9;
  std::vector<int64_t> saved;
  Told told;
  o.callbacks.push_back(&told);
  told.on_step = [&](const StepReport& report) {
    if (report.step_in_epoch > 1) saved.push_back(load_checkpoint(folder_ / "last.safetensors").step);
  };
  train(o);
  saved.resize(4);
  EXPECT_EQ(saved, (std::vector<int64_t>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace treadle
