/// Models that are made for the data set they meet, and those that are not.
#include "treadle/models/model.h"

#include <gtest/gtest.h>

#include "tests/refused.h"
#include "treadle/core/error.h"

namespace treadle {
namespace {

TEST(Model, TheMlpFollowsTheData) {
  auto model = make_model("mlp", ModelTask{{3, 4, 5}, 7});
  EXPECT_EQ((*model)(Tensor::zeros({2, 3, 4, 5})).shape(), (Shape{2, 7}));
  EXPECT_EQ(model->parameter_count(), 60 * 128 + 128 + 128 * 7 + 7);
  EXPECT_EQ((*make_model("mlp", ModelTask{{2}, 3}))(Tensor::zeros({4, 2})).shape(), (Shape{4, 3}));
}

TEST(Model, OthersSayWhatTheyTake) {
  expect_refused({
      refused<ShapeError>("input", {"lenet5", "[1, 28, 28]", "[3, 32, 32]"},
                          [] {
                            make_model("lenet5", ModelTask{{3, 32, 32}, 10});
                          }),
      refused<ValueError>("classes", {"lenet5 has 10 classes", "not 3"},
                          [] {
                            make_model("lenet5", ModelTask{{1, 28, 28}, 3});
                          }),
      refused<ValueError>("no classes", {"0 classes"},
                          [] {
                            make_model("mlp", ModelTask{{2}, 0});
                          }),
  });
}

/// Without a task a model is that of its usual one, bit by bit.
TEST(Model, TheUsualTaskIsTheDefault) {
  auto first = make_model("mlp", 3), second = make_model("mlp", ModelTask{{1, 28, 28}, 10}, 3);
  EXPECT_EQ(first->parameters()[0].to_vector<float>(), second->parameters()[0].to_vector<float>());
}

}  // namespace
}  // namespace treadle
