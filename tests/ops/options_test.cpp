/// Options by name: what one, two and four numbers say of pairs and pads.
#include <gtest/gtest.h>

#include "treadle/core/error.h"
#include "treadle/graph/options.h"
#include "treadle/ops/conv2d/conv2d_options.h"

namespace treadle {
namespace {

using Numbers = std::vector<int64_t>;

Conv2dOptions made(const char* name, const OptionValue& value) {
  return schema_of<Conv2dOptions>().make({{name, value}}).as<Conv2dOptions>();
}

TEST(Options, PairsAreHeightAndWidth) {
  const Pair stride = made("stride", Numbers{2, 3}).stride, both = made("stride", int64_t(4)).stride;
  EXPECT_EQ((Numbers{stride.height, stride.width}), (Numbers{2, 3}));
  EXPECT_EQ((Numbers{both.height, both.width}), (Numbers{4, 4}));
  EXPECT_THROW(made("stride", Numbers{1, 2, 3}), ValueError);
}

TEST(Options, PadsAreFourSidesOrTwoAxes) {
  auto pads = [](const OptionValue& value) {
    const Pads p = made("padding", value).padding;
    return Numbers{p.top, p.left, p.bottom, p.right};
  };
  EXPECT_EQ(pads(int64_t(5)), (Numbers{5, 5, 5, 5}));
  EXPECT_EQ(pads(Numbers{1, 2}), (Numbers{1, 2, 1, 2}));
  EXPECT_EQ(pads(Numbers{1, 2, 3, 4}), (Numbers{1, 2, 3, 4}));
  EXPECT_THROW(pads(Numbers{1, 2, 3}), ValueError);
}

}  // namespace
}  // namespace treadle
