/// What the options of mlp change.
#include "tests/random_tensor.h"
#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/models/model.h"

namespace treadle {
namespace {

ModelTask digits(std::map<std::string, std::string> options) { return {{1, 28, 28}, 10, std::move(options)}; }

TEST(Mlp, HasAsManyHiddenLayersAsAsked) {
  const auto model = make_model("mlp", digits({{"layers", "3"}, {"features", "16"}}));
  std::vector<std::pair<std::string, Shape>> weights;
  for (const auto& [name, parameter] : model->named_parameters())
    if (parameter.rank() == 2) weights.emplace_back(name, parameter.shape());
  const std::vector<std::pair<std::string, Shape>> expected = {{"fc1.weight", {16, 784}},
                                                               {"fc2.weight", {16, 16}},
                                                               {"fc3.weight", {16, 16}},
                                                               {"fc4.weight", {10, 16}}};
  EXPECT_EQ(weights, expected);
  EXPECT_EQ((*model)(random_tensor({2, 1, 28, 28}, 1)).shape(), (Shape{2, 10}));
}

TEST(Mlp, RefusesOptionsOutOfRange) {
  expect_refused({
      refused<ValueError>("no layer", {"mlp", "layers=0", "1 to 32"},
                          [] {
                            make_model("mlp", digits({{"layers", "0"}}));
                          }),
      refused<ValueError>("too wide", {"mlp", "features=20000", "16384"},
                          [] {
                            make_model("mlp", digits({{"features", "20000"}}));
                          }),
  });
}

}  // namespace
}  // namespace treadle
