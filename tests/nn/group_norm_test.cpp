/// GroupNorm: its parameters, and that forward hands them and the options to the op.
#include "treadle/nn/group_norm.h"

#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/ops/random/random.h"

namespace treadle {
namespace {

TEST(GroupNorm, BeginsWithOnesAndZeros) {
  const auto state = GroupNorm(2, 4).state_dict();
  ASSERT_EQ(state.size(), 2u);
  EXPECT_EQ(state[0].name, "weight");
  EXPECT_EQ(state[0].tensor.to_vector<float>(), std::vector<float>(4, 1));
  EXPECT_EQ(state[1].name, "bias");
  EXPECT_EQ(state[1].tensor.to_vector<float>(), std::vector<float>(4, 0));
  EXPECT_TRUE(GroupNorm(2, 4, 1e-5, false).state_dict().empty());
}

TEST(GroupNorm, IsTheOpOfItsParameters) {
  GroupNorm layer(3, 6, 0.5), plain(2, 6, 0.5, false);
  layer.load_state_dict({{"weight", rand({6})}, {"bias", rand({6})}});
  const Tensor x = rand({2, 6, 4, 3});
  EXPECT_EQ(layer(x).to_vector<float>(),
            group_norm(x, layer.weight, layer.bias, {3, 0.5}).to_vector<float>());
  EXPECT_EQ(plain(x).to_vector<float>(), group_norm(x, {}, {}, {2, 0.5}).to_vector<float>());
}

TEST(GroupNorm, SaysItsGroupsAndChannels) {
  EXPECT_EQ(GroupNorm(3, 6).describe(), "GroupNorm(3, 6)");
  EXPECT_EQ(GroupNorm(3, 6, 1e-5, false).describe(), "GroupNorm(3, 6, not affine)");
}

TEST(GroupNorm, RefusesGroupsThatDoNotDivideTheChannels) {
  expect_refused({
      refused<ShapeError>("remainder", {"GroupNorm", "6 channels", "4 groups"}, [] { GroupNorm(4, 6); }),
      refused<ShapeError>("no groups", {"6 channels", "0 groups"}, [] { GroupNorm(0, 6); }),
      refused<ShapeError>("negative groups", {"-3 groups"}, [] { GroupNorm(-3, 6); }),
      refused<ShapeError>("negative channels", {"-6 channels"}, [] { GroupNorm(3, -6); }),
  });
}

}  // namespace
}  // namespace treadle
