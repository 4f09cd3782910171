/// The search for a learning rate: where it ends, what it suggests, and that it leaves no trace.
#include "treadle/train/learning_rate_finder.h"

#include <gtest/gtest.h>

#include "tests/formats/temporary_folder.h"
#include "tests/train/bright_quarters.h"
#include "tests/train/numbers_of.h"
#include "treadle/core/error.h"
#include "treadle/models/model.h"
#include "treadle/optim/adam/adam.h"
#include "treadle/train/classification/fit_classifier.h"

namespace treadle {
namespace {

class RateFinder : public testing::Test {
 protected:
  LearningRateCurve find(LearningRateSearch search = {}) {
    ClassifierOptions options;
    options.batch_size = 24;
    return find_classifier_learning_rate(*model_, optimizer_, data_, options, search);
  }
  std::vector<std::vector<double>> state() const {
    auto all = model_->state_dict();
    for (const NamedTensor& entry : optimizer_.state()) all.push_back(entry);
    return numbers_of(all);
  }

  ImageDataset data_ = bright_quarters(200, 1);
  std::shared_ptr<Module> model_ = make_model("mlp", 5);
  Adam optimizer_{model_->named_parameters(), 0.25};
};

TEST_F(RateFinder, RisesUntilTheLossDoes) {
  const LearningRateCurve curve = find();
  ASSERT_EQ(curve.rates.size(), curve.losses.size());
  EXPECT_DOUBLE_EQ(curve.rates[0], 1e-7);
  for (size_t i = 1; i < curve.rates.size(); ++i)
    EXPECT_NEAR(curve.rates[i] / curve.rates[i - 1], std::pow(1e8, 1 / 299.0), 1e-9);
  const double least = *std::min_element(curve.losses.begin(), curve.losses.end());
  EXPECT_LE(curve.losses.back(), 4 * least);
  EXPECT_GT(curve.suggestion, 1e-5);
  EXPECT_LT(curve.suggestion, 0.1);
}

TEST_F(RateFinder, LeavesNoTrace) {
  model_->eval();
  default_generator() = Generator(3, 4);
  const auto before = state();
  find();
  EXPECT_EQ(state(), before);
  EXPECT_EQ(optimizer_.learning_rate(), 0.25);
  EXPECT_FALSE(model_->is_training());
  EXPECT_EQ(default_generator().offset(), 4u);
}

TEST_F(RateFinder, EndsWhenItIsTold) {
  int64_t told = 0;
  find({.lowest = 1e-5, .highest = 1e-4, .steps = 12, .on_step = [&](int64_t step) { told = step; }});
  EXPECT_EQ(told, 12);
  expect_error<ValueError>([&] { find({.lowest = 0}); }, {"from 0 to 10"});
  expect_error<ValueError>([&] { find({.steps = 3}); }, {"3 steps"});
}

}  // namespace
}  // namespace treadle
