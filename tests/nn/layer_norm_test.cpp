/// LayerNorm: its parameters, and that forward hands them and the options to the op.
#include "treadle/nn/layer_norm.h"

#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/ops/random/random.h"

namespace treadle {
namespace {

TEST(LayerNorm, BeginsWithOnesAndZeros) {
  const auto state = LayerNorm(3).state_dict();
  ASSERT_EQ(state.size(), 2u);
  EXPECT_EQ(state[0].name, "weight");
  EXPECT_EQ(state[0].tensor.to_vector<float>(), std::vector<float>(3, 1));
  EXPECT_EQ(state[1].name, "bias");
  EXPECT_EQ(state[1].tensor.to_vector<float>(), std::vector<float>(3, 0));
  EXPECT_EQ(LayerNorm(3, {}, false).state_dict().size(), 1u);
}

TEST(LayerNorm, IsTheOpOfItsParameters) {
  LayerNorm layer(5, {.epsilon = 0.5});
  layer.load_state_dict({{"weight", rand({5})}, {"bias", rand({5})}});
  const Tensor x = rand({2, 3, 5});
  EXPECT_EQ(layer(x).to_vector<float>(), layer_norm(x, layer.weight, layer.bias, {0.5}).to_vector<float>());
}

TEST(LayerNorm, RefusesNegativeFeatures) {
  expect_refused({refused<ShapeError>("features", {"LayerNorm", "-3"}, [] { LayerNorm(-3); })});
}

}  // namespace
}  // namespace treadle
