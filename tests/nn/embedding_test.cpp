/// Embedding: its table at first, what it hands to the op, and the padding row.
#include "treadle/nn/embedding.h"

#include <cmath>

#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

using Values = std::vector<float>;

Tensor indices(const std::vector<int64_t>& values, const Shape& shape) {
  return Tensor::from(std::span<const int64_t>(values), shape);
}

TEST(Embedding, BeginsNormalButForThePadding) {
  const auto state = Embedding(40, 50, {3}).state_dict();
  ASSERT_EQ(state.size(), 1u);
  EXPECT_EQ(state[0].name, "weight");
  const Values values = state[0].tensor.to_vector<float>();
  EXPECT_EQ(Values(values.begin() + 150, values.begin() + 200), Values(50, 0));
  double squares = 0;
  for (float value : values) squares += double(value) * value;
  // Of 1950 squares with mean 1 and variance 2: three deviations.
  EXPECT_NEAR(squares / 1950, 1, 3 * std::sqrt(2.0 / 1950));
}

TEST(Embedding, PicksRows) {
  Embedding layer(3, 2);
  layer.load_state_dict({{"weight", Tensor::from({0, 1, 10, 11, 20, 21}, {3, 2})}});
  const Tensor y = layer(indices({2, 0, 1, 2}, {2, 2}));
  EXPECT_EQ(y.shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(y.to_vector<float>(), (Values{20, 21, 0, 1, 10, 11, 20, 21}));
}

TEST(Embedding, ThePaddingRowGetsNoGradient) {
  for (int64_t padding : {-1, 2}) {
    Embedding layer(4, 2, {padding});
    sum(layer(indices({2, 0, 2, 2}, {4}))).backward();
    const float of_two = padding == 2 ? 0 : 3;
    EXPECT_EQ(layer.weight.grad().to_vector<float>(), (Values{1, 1, 0, 0, of_two, of_two, 0, 0}));
  }
}

TEST(Embedding, SaysItsRowsAndFeatures) {
  EXPECT_EQ(Embedding(7, 3).describe(), "Embedding(7, 3)");
  EXPECT_EQ(Embedding(7, 3, {0}).describe(), "Embedding(7, 3, padding 0)");
}

TEST(Embedding, RefusesWhatIsNoTable) {
  expect_refused({
      refused<ShapeError>("rows", {"Embedding", "-7 rows"}, [] { Embedding(-7, 3); }),
      refused<ShapeError>("features", {"-3 features"}, [] { Embedding(7, -3); }),
      refused<ValueError>("padding", {"padding row 7", "7 rows"}, [] { Embedding(7, 3, {7}); }),
      refused<ValueError>("index", {"index 7", "[0, 7)"}, [] { Embedding(7, 3)(indices({7}, {1})); }),
  });
}

}  // namespace
}  // namespace treadle
