/// What a training step does beside gradients and update: parts of a batch, clipping, an average of weights.
#include "treadle/train/training_step.h"

#include <gtest/gtest.h>

#include "tests/compile/options.h"
#include "tests/compile/restored_settings.h"
#include "tests/formats/temporary_folder.h"
#include "tests/goldens/golden_numbers.h"
#include "tests/train/bright_quarters.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/models/model.h"
#include "treadle/nn/linear.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/loss/mse.h"
#include "treadle/optim/clip_gradients.h"
#include "treadle/train/classification/fit_classifier.h"

namespace treadle {
namespace {

constexpr int64_t kRows = 30;
constexpr int kUpdates = 3;
/// Each update sums kRows products in two orders, of magnitudes that add up to less than 4.
constexpr double kOrders = kUpdates * 2 * double(kRows) * 4 * 0x1p-53;

/// A linear layer in f64, which learns with squared error.
struct Learner {
  explicit Learner(const StepOptions& options, double rate = 0.1)
      : layer(5, 2, true, generator), optimizer((layer.to(DType::f64), make(rate))) {
    step = training_step(
        *optimizer, [this](std::span<const Tensor> batch) { return mse(layer(batch[0]), batch[1]); },
        options);
  }
  std::unique_ptr<Optimizer> make(double rate) {
    return make_optimizer("momentum", layer.named_parameters(), rate);
  }

  /// The losses, then the weights.
  std::vector<double> train(bool compiled, int64_t rows = kRows) {
    CompiledFunction program([this](std::span<const Tensor> batch) { return std::vector{step(batch)}; },
                             kDeclared);
    std::vector<double> numbers;
    for (uint32_t i = 0; i < kUpdates; ++i) {
      const Tensor batch[] = {cast(goldens::signed_tensor(100 + i, {rows, 5}), DType::f64),
                              cast(goldens::signed_tensor(200 + i, {rows, 2}), DType::f64)};
      Tensor loss;
      compiled ? program.call(batch, {&loss, 1}) : void(loss = step(batch));
      numbers.push_back(loss.item());
    }
    for (const Tensor& tensor : layer.parameters())
      for (double value : tensor.to_doubles()) numbers.push_back(value);
    return numbers;
  }

  Generator generator{7};
  Linear layer;
  std::unique_ptr<Optimizer> optimizer;
  std::function<Tensor(std::span<const Tensor>)> step;
};

TEST(TrainingStep, PartsOfABatchGiveTheStepOfTheWhole) {
  for (bool compiled : {false, true})
    for (int64_t rows : {kRows, int64_t(3)})  // with 3 some of 4 or 7 parts are empty
      for (int64_t parts : {2, 4, 7}) {
        const auto whole = Learner({}).train(compiled, rows);
        const auto cut = Learner({.parts = parts}).train(compiled, rows);
        for (size_t i = 0; i < whole.size(); ++i)
          EXPECT_NEAR(cut[i], whole[i], kOrders) << compiled << ' ' << rows << ' ' << parts << ' ' << i;
      }
  EXPECT_THROW(Learner({.parts = 0}), ValueError);
}

TEST(TrainingStep, ClipsWhatTheOptimizerSees) {
  Learner by_hand({}), clipped({.clip_norm = 0.125});
  by_hand.step = [&](std::span<const Tensor> batch) {
    by_hand.optimizer->zero_grad();
    const Tensor loss = mse(by_hand.layer(batch[0]), batch[1]);
    loss.backward();
    EXPECT_GT(clip_gradient_norm(by_hand.layer.parameters(), 0.125).item(), 0.125);
    by_hand.optimizer->step();
    return loss;
  };
  EXPECT_EQ(clipped.train(false), by_hand.train(false));
  EXPECT_EQ(Learner({.clip_norm = 0.125}).train(true), Learner({.clip_norm = 0.125}).train(false));
}

class FitAverage : public testing::Test {
 protected:
  FitResult train(int64_t epochs, const Checkpoint* resume = nullptr) {
    model_ = make_model("mlp", 5);
    auto optimizer = make_optimizer("adam", model_->named_parameters(), 1e-3);
    WeightAverage average(*model_, 0.8);
    RunFolder folder(folder_->path());
    ClassifierOptions o;
    o.epochs = epochs, o.batch_size = 24, o.seed = 3, o.folder = &folder, o.resume = resume;
    o.step = {.parts = 2, .clip_norm = 1};
    o.average = with_average_ ? &average : nullptr;
    o.description.model = "mlp";
    o.description.classes = data_.train.classes;
    o.description.input = {1, 28, 28};
    return fit_classifier(*model_, *optimizer, Schedule::named("constant", 1e-3), data_, o);
  }

  Checkpoint last() { return load_checkpoint(*folder_ / "last.safetensors"); }

  static std::vector<std::vector<double>> numbers(const std::vector<NamedTensor>& tensors) {
    std::vector<std::vector<double>> all;
    for (const NamedTensor& one : tensors) all.push_back(one.tensor.to_doubles());
    return all;
  }

  DatasetSplits data_{bright_quarters(100, 1), bright_quarters(200, 2), {}};
  std::unique_ptr<TemporaryFolder> folder_ = std::make_unique<TemporaryFolder>();
  std::shared_ptr<Module> model_;
  bool with_average_ = true;
  DeterministicRuns equal_bits_;
};

TEST_F(FitAverage, IsEvaluatedSavedAndLeftInTheModel) {
  const FitResult result = train(2);
  const auto saved = numbers(last().parameters);
  EXPECT_EQ(numbers(model_->state_dict()), saved);
  EXPECT_EQ(evaluate(*model_, data_.test, {}, kCpu).loss, result.test["loss"]);
  with_average_ = false;
  folder_ = std::make_unique<TemporaryFolder>();
  EXPECT_EQ(train(2).losses, result.losses);
  EXPECT_NE(numbers(last().parameters), saved);
}

TEST_F(FitAverage, ARunThatIsResumedGoesOnWithBoth) {
  const FitResult whole = train(3);
  const auto saved = numbers(last().parameters);
  folder_ = std::make_unique<TemporaryFolder>();
  train(1);
  const Checkpoint first = last();
  const FitResult rest = train(3, &first);
  EXPECT_EQ(rest.losses, std::vector<double>(whole.losses.begin() + 5, whole.losses.end()));
  EXPECT_EQ(numbers(last().parameters), saved);
}

TEST_F(FitAverage, IsTakenUpFromRunsThatHaveOne) {
  with_average_ = false;
  train(1);
  with_average_ = true;
  const Checkpoint without = last();
  EXPECT_THROW(train(2, &without), FormatError);
}

}  // namespace
}  // namespace treadle
