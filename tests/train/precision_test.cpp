/// Training in half types: steps eager and compiled, and runs that are resumed while the loss scaler counts.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/compile/options.h"
#include "tests/compile/restored_settings.h"
#include "tests/formats/temporary_folder.h"
#include "tests/refused.h"
#include "tests/train/bright_quarters.h"
#include "tests/train/numbers_of.h"
#include "tests/train/told.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/models/model.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/optim/adam/adam.h"
#include "treadle/optim/sgd/sgd.h"
#include "treadle/train/classification/classifier_loss.h"
#include "treadle/train/classification/fit_classifier.h"

namespace treadle {
namespace {

/// Its factor is at first so large that gradients overflow, and soon grows again.
constexpr LossScalerOptions kRestless{.initial = 0x1p24, .interval = 3};

class Precision : public testing::TestWithParam<DType> {
 protected:
  /// Losses, then the numbers of weights, average and optimizer.
  std::vector<double> steps(bool compiled, const StepOptions& more) {
    auto model = make_model("lenet5", 3);
    Adam optimizer(model->named_parameters(), 1e-3);
    LossScaler scaler(kRestless);
    WeightAverage average(*model, 0.5);
    StepOptions options = more;
    options.precision = GetParam(), options.average = &average;
    if (GetParam() == DType::f16) options.scaler = &scaler;
    auto step = training_step(optimizer, classifier_loss(*model), options);
    CompiledFunction program([&](std::span<const Tensor> batch) { return std::vector{step(batch)}; },
                             kUnfused);
    const ImageDataset data = bright_quarters(24 * 8, 1);
    std::vector<double> numbers;
    for (int64_t i = 0; i < 8; ++i) {
      std::vector<int64_t> indices(24);
      for (size_t k = 0; k < indices.size(); ++k) indices[k] = i * 24 + int64_t(k);
      const Batch batch = make_batch(data, indices, {}, kCpu);
      const Tensor both[] = {batch.images, batch.labels};
      Tensor loss;
      compiled ? program.call(both, {&loss, 1}) : void(loss = step(both));
      numbers.push_back(loss.item());
    }
    auto add = [&](const std::vector<NamedTensor>& tensors) {
      for (const NamedTensor& one : tensors)
        for (double value : one.tensor.to_doubles()) numbers.push_back(value);
    };
    add(model->state_dict()), add(average.shadows()), add(optimizer.state()), add(scaler.state());
    if (options.scaler) {
      EXPECT_GT(scaler.skipped_steps(), 1);
      EXPECT_LT(scaler.skipped_steps(), 8);
    }
    return numbers;
  }
  DeterministicRuns equal_bits_;
};

TEST_P(Precision, CompiledStepsHaveTheBitsOfEagerOnes) {
  for (const StepOptions& options : {StepOptions{}, StepOptions{.parts = 2, .clip_norm = 0.5}})
    EXPECT_EQ(steps(true, options), steps(false, options)) << options.parts;
}

INSTANTIATE_TEST_SUITE_P(All, Precision, testing::Values(DType::bf16, DType::f16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

/// One step of an mlp by SGD of rate 1 without weight decay, then one on images that are no numbers.
class ScaledStep : public testing::Test {
 protected:
  void step(float pixel, const StepOptions& more) {
    StepOptions options = more;
    options.scaler = &scaler_, options.average = &average_;
    const Tensor batch[] = {full({4, 1, 28, 28}, pixel), Tensor::from(std::vector<int64_t>{0, 1, 2, 3}, {4})};
    training_step(optimizer_, classifier_loss(*model_), options)(batch);
  }
  std::vector<double> numbers(const std::vector<NamedTensor>& tensors) const {
    std::vector<double> all;
    for (const NamedTensor& one : tensors)
      for (double value : one.tensor.to_doubles()) all.push_back(value);
    return all;
  }

  std::shared_ptr<Module> model_ = make_model("mlp", 5);
  Sgd optimizer_{model_->named_parameters(), 1};
  LossScaler scaler_;
  WeightAverage average_{*model_, 0.5};
};

TEST_F(ScaledStep, ClipsUnscaledGradients) {
  const auto before = numbers(model_->named_parameters());
  step(0.5f, {.clip_norm = 0.25});
  const auto after = numbers(model_->named_parameters());
  double squares = 0;
  for (size_t i = 0; i < before.size(); ++i) squares += (after[i] - before[i]) * (after[i] - before[i]);
  EXPECT_NEAR(std::sqrt(squares), 0.25, 1e-4);
}

TEST_F(ScaledStep, LeavesTheAverageOut) {
  step(0.5f, {});
  const auto average = numbers(average_.shadows()), weights = numbers(model_->named_parameters());
  EXPECT_NE(average, weights);
  step(NAN, {});
  EXPECT_EQ(scaler_.skipped_steps(), 1);
  EXPECT_EQ(numbers(average_.shadows()), average);
  EXPECT_EQ(numbers(model_->named_parameters()), weights);
}

TEST(PrecisionOptions, AreChecked) {
  auto model = make_model("mlp", 3);
  Adam optimizer(model->named_parameters(), 1e-3);
  auto with = [&](DType dtype) {
    return [&optimizer, &model, dtype] {
      training_step(optimizer, classifier_loss(*model), {.precision = dtype});
    };
  };
  expect_refused({refused<ValueError>("f16 alone", {"f16", "LossScaler"}, with(DType::f16)),
                  refused<DTypeError>("integers", {"bf16 or f16", "i32"}, with(DType::i32))});
}

/// What a process that is killed does not get to.
struct KilledInHalf {};

class ResumedPrecision : public testing::Test {
 protected:
  FitResult train(ClassifierOptions o) {
    default_generator() = Generator(11, from_ ? 1234 : 0);
    model_ = make_model("mlp", 5);
    Adam optimizer(model_->named_parameters(), 1e-3);
    LossScaler scaler(kRestless);
    RunFolder folder(folder_.path());
    o.epochs = 3, o.batch_size = 24, o.folder = &folder, o.scaler = &scaler;
    o.step.precision = DType::f16;
    o.description.model = "mlp", o.description.input = {1, 28, 28};
    o.resume = from_ ? &*from_ : nullptr;
    told_.on_step = [&](const StepReport&) {
      rates_.push_back(optimizer.learning_rate());
      EXPECT_EQ(optimizer.step_count() + scaler.skipped_steps(), int64_t(done_) + int64_t(rates_.size()));
      EXPECT_EQ(rates_.back(), schedule_.at(int64_t(done_) + int64_t(rates_.size()) - 1 - skipped_))
          << "the schedule goes on with the steps that are made";
      skipped_ = scaler.skipped_steps();
      factor_ = scaler.factor();
    };
    o.callbacks.push_back(&told_);
    rates_.clear();
    done_ = from_ ? from_->step : 0, skipped_ = 0;
    if (from_)
      for (const auto& [name, value] : from_->optimizer_state)
        if (name == "loss_scaler.skipped_steps") skipped_ = int64_t(value.to_doubles()[0]);
    return fit_classifier(*model_, optimizer, schedule_, data_, o);
  }

  std::vector<std::vector<double>> weights() const { return numbers_of(model_->state_dict()); }

  DatasetSplits data_{bright_quarters(100, 1), bright_quarters(20, 2), {}};
  TemporaryFolder folder_;
  std::shared_ptr<Module> model_;
  std::optional<Checkpoint> from_;
  const Schedule schedule_ = Schedule::named("cosine", 1e-3, {15});
  std::vector<double> rates_;
  int64_t done_ = 0, skipped_ = 0;
  double factor_ = 0;
  Told told_;
  DeterministicRuns equal_bits_;
};

/// Among the states are some between two growths, and some behind a step that was left out.
TEST_F(ResumedPrecision, GivesTheBitsOfAnUndisturbedRun) {
  train({});
  const auto whole = weights();
  const auto rates = rates_;
  const int64_t skipped = skipped_;
  const double factor = factor_;
  EXPECT_GT(skipped, 2);
  EXPECT_LT(skipped, 10);
  for (int64_t steps : {1, 5, 11}) {
    from_.reset();
    ClassifierOptions o;
    o.save_every.steps = 1;
    Told told;
    told.on_step = [&, left = steps](const StepReport&) mutable {
      if (--left < 0) throw KilledInHalf();
    };
    o.callbacks.push_back(&told);
    EXPECT_THROW(train(o), KilledInHalf);
    from_ = load_checkpoint(folder_ / "last.safetensors");
    train({});
    EXPECT_EQ(weights(), whole) << "after " << steps << " steps";
    EXPECT_EQ(rates_.back(), rates.back());
    EXPECT_EQ(skipped_, skipped);
    EXPECT_EQ(factor_, factor);
  }
}

/// A run that began without a scaler has nothing to restore one from.
TEST_F(ResumedPrecision, RefusesAStateWithoutAScaler) {
  train({});
  from_ = load_checkpoint(folder_ / "last.safetensors");
  std::erase_if(from_->optimizer_state,
                [](const NamedTensor& one) { return one.name == "loss_scaler.factor"; });
  expect_refused({refused<FormatError>("factor", {"does not fit", "no 'factor'"}, [&] { train({}); })});
}

}  // namespace
}  // namespace treadle
