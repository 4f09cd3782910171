/// Training on augmented images: the same losses for any number of the loader's threads and from any step on,
/// the loss of mixtures, and ends at any moment.
#include <gtest/gtest.h>

#include "tests/compile/restored_settings.h"
#include "tests/formats/temporary_folder.h"
#include "tests/goldens/golden_numbers.h"
#include "tests/train/bright_quarters.h"
#include "tests/train/told.h"
#include "treadle/models/model.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/optim/adam/adam.h"
#include "treadle/train/classification/classifier_loss.h"
#include "treadle/train/classification/fit_classifier.h"

namespace treadle {
namespace {

class AugmentedFit : public testing::Test {
 protected:
  FitResult train(ClassifierOptions o, const Checkpoint* resume = nullptr) {
    const auto model = make_model("mlp", 5);
    Adam optimizer(model->named_parameters(), 1e-3);
    RunFolder folder(folder_.path());
    o.epochs = 3, o.batch_size = 24, o.seed = 3;
    o.augmentations = Augmentations::parse(augmentations_);
    o.label_smoothing = smoothing_;
    o.folder = &folder;
    o.resume = resume;
    o.description.model = "mlp";
    o.description.input = {1, 28, 28};
    return fit_classifier(*model, optimizer, Schedule::named("constant", 1e-3), data_, o);
  }

  std::string augmentations_ = "crop:2,rotate:10,mixup:0.5";
  double smoothing_ = 0.1;
  DatasetSplits data_{bright_quarters(100, 1), bright_quarters(20, 2), {}};
  TemporaryFolder folder_;
  DeterministicRuns equal_bits_;
};

TEST_F(AugmentedFit, ThreadsChangeNothing) {
  ClassifierOptions o;
  o.loader_threads = 0;
  const std::vector<double> wanted = train(o).losses;
  ASSERT_EQ(wanted.size(), 15u);
  for (int threads : {1, 3}) {
    o.loader_threads = threads;
    EXPECT_EQ(train(o).losses, wanted);
  }
  augmentations_ = "crop:2,rotate:11,mixup:0.5";
  EXPECT_NE(train(o).losses, wanted);
}

TEST_F(AugmentedFit, EpochsThatAreCutBeginAnew) {
  ClassifierOptions o;
  o.limit_batches = 2;
  o.loader_threads = 0;
  const std::vector<double> wanted = train(o).losses;
  ASSERT_EQ(wanted.size(), 6u);
  o.loader_threads = 2;
  EXPECT_EQ(train(o).losses, wanted);
}

TEST_F(AugmentedFit, GoesOnFromAnyStep) {
  ClassifierOptions o;
  o.loader_threads = 2;
  const std::vector<double> wanted = train(o).losses;
  for (int64_t steps : {1, 4, 5, 8}) {
    std::stop_source stop;
    Told told;
    int64_t left = steps;
    told.on_step = [&](const StepReport&) {
      if (--left == 0) stop.request_stop();
    };
    ClassifierOptions first = o;
    first.stop = stop.get_token();
    first.callbacks.push_back(&told);
    EXPECT_TRUE(train(first).interrupted);
    const Checkpoint from = load_checkpoint(folder_.path() / "last.safetensors");
    EXPECT_EQ(train(o, &from).losses, std::vector(wanted.begin() + steps, wanted.end())) << steps;
  }
}

TEST_F(AugmentedFit, FaultsOfTheLoaderReachTheCaller) {
  data_.train.labels[60] = 10;  // of ten classes; found by whichever thread makes its batch
  ClassifierOptions o;
  for (int threads : {0, 2}) {
    o.loader_threads = threads;
    EXPECT_THROW(train(o), ValueError);
  }
}

TEST_F(AugmentedFit, RefusesAugmentationsThatDoNotFit) {
  augmentations_ = "crop";
  data_.train.pixels.clear();
  data_.train.values.assign(100 * 784, 0.5f);
  data_.train.image_shape = {784};
  EXPECT_THROW(train({}), ValueError);
}

TEST(ClassifierLoss, OfMixturesIsTheMixtureOfLosses) {
  const auto model = make_model("mlp", 5);
  const Tensor images = goldens::uniform_tensor(1, {4, 1, 28, 28});
  const Tensor a = Tensor::from(std::vector<int64_t>{1, 2, 3, 4}, {4}),
               b = Tensor::from(std::vector<int64_t>{7, 2, 0, 9}, {4});
  const float share = 0.25f;
  std::vector<float> mixture(40);
  for (size_t n = 0; n < 4; ++n) {
    mixture[n * 10 + size_t(a.to_vector<int64_t>()[n])] += share;
    mixture[n * 10 + size_t(b.to_vector<int64_t>()[n])] += 1 - share;
  }
  for (double smoothing : {0.0, 0.2}) {
    const auto loss = classifier_loss(*model, smoothing);
    auto of = [&](const Tensor& targets) { return loss(std::vector{images, targets}).item(); };
    EXPECT_NEAR(of(Tensor::from(mixture, {4, 10})), share * of(a) + (1 - share) * of(b), 2e-6);
    const Tensor logits = (*model)(images);
    EXPECT_NEAR(of(a), cross_entropy(logits, a, {.label_smoothing = smoothing}).item(), 1e-6);
  }
}

}  // namespace
}  // namespace treadle
