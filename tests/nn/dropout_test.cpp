/// Dropout: how much of x it leaves, when, and that the gradient leaves out the same.
#include "treadle/nn/dropout.h"

#include <algorithm>
#include <functional>

#include "tests/refused.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/core/random.h"
#include "treadle/nn/identity.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

using Values = std::vector<float>;

/// How many elements are 0, where all others are `value`.
int64_t dropped_of(const Values& values, float value) {
  const auto zeros = std::count(values.begin(), values.end(), 0.0f);
  EXPECT_EQ(zeros + std::count(values.begin(), values.end(), value), int64_t(values.size()));
  return zeros;
}

TEST(Dropout, DropsItsShareInTraining) {
  Dropout layer(0.25);
  const Tensor x = full({100, 100}, 3);
  const auto first = layer(x).to_vector<float>(), second = layer(x).to_vector<float>();
  // Three standard deviations of a binomial of 10,000.
  EXPECT_NEAR(double(dropped_of(first, 4)), 2500, 3 * 43.3);
  EXPECT_NEAR(double(dropped_of(second, 4)), 2500, 3 * 43.3);
  EXPECT_NE(first, second);
  layer.eval();
  EXPECT_EQ(layer(x).to_vector<float>(), x.to_vector<float>());
}

TEST(Dropout, EndsOfTheRange) {
  const Tensor x = rand({50});
  EXPECT_TRUE(Dropout(0)(x).same_as(x));
  EXPECT_EQ(Dropout(1)(x).to_vector<float>(), Values(50, 0));
}

/// The gradient of Σ dropout(x) is what x = 1 becomes; forward and back of one step have the same mask, the
/// next step has another.
TEST(Dropout, GradientDropsTheSame) {
  Dropout layer(0.5);
  auto step = [&](std::span<const Tensor> inputs) {
    Tensor x = inputs[0].detach().set_requires_grad();
    const Tensor y = layer(x);
    sum(y).backward();
    return std::vector<Tensor>{y.detach(), x.grad()};
  };
  const Tensor x = full({7, 41}, 1);
  CompiledFunction compiled(step);
  Values before;
  for (int call = 0; call < 8; ++call) {
    const auto results = call < 4 ? step({&x, 1}) : compiled({&x, 1});
    const Values y = results[0].to_vector<float>();
    EXPECT_EQ(results[1].to_vector<float>(), y);
    EXPECT_GT(dropped_of(y, 2), 0);
    EXPECT_NE(y, before);
    before = y;
  }
}

/// A compiled step goes on in the default generator's sequence as an eager one does.
TEST(Dropout, CompiledDropsAsEager) {
  Dropout layer(0.5);
  auto step = [&](std::span<const Tensor> inputs) { return std::vector<Tensor>{layer(inputs[0])}; };
  const Tensor x = full({5, 9}, 1);
  auto three = [&](const std::function<std::vector<Tensor>(std::span<const Tensor>)>& function) {
    default_generator().set_seed(5);
    std::vector<Values> values;
    for (int call = 0; call < 3; ++call) values.push_back(function({&x, 1})[0].to_vector<float>());
    return values;
  };
  CompiledFunction compiled(step);
  EXPECT_EQ(three(step), three([&](std::span<const Tensor> inputs) { return compiled(inputs); }));
}

TEST(Dropout2d, DropsWholeChannels) {
  Dropout2d layer(0.5);
  const Values y = layer(full({20, 10, 2, 3}, 1)).to_vector<float>();
  const int64_t dropped = dropped_of(y, 2);
  EXPECT_TRUE(dropped > 0 && dropped < 1200) << dropped;
  for (size_t channel = 0; channel < y.size(); channel += 6)
    EXPECT_EQ(Values(y.begin() + channel, y.begin() + channel + 6), Values(6, y[channel]));
  layer.eval();
  EXPECT_EQ(layer(full({2, 3}, 1)).to_vector<float>(), Values(6, 1));
}

TEST(Dropout, SaysItsProbability) {
  EXPECT_EQ(Dropout().describe(), "Dropout(0.5)");
  EXPECT_EQ(Dropout2d(0.1).describe(), "Dropout2d(0.1)");
}

TEST(Dropout, RefusesWhatIsNoProbability) {
  expect_refused({
      refused<ValueError>("negative", {"Dropout", "-0.1"}, [] { Dropout(-0.1); }),
      refused<ValueError>("above one", {"Dropout2d", "1.5"}, [] { Dropout2d(1.5); }),
      refused<ValueError>("undefined", {"dropout", "undefined"}, [] { Dropout()(Tensor()); }),
      refused<ShapeError>("one axis", {"Dropout2d", "[3]"}, [] { Dropout2d()(Tensor::zeros({3})); }),
  });
}

TEST(Identity, IsItsOperand) {
  const Tensor x = rand({2, 3});
  EXPECT_EQ(Identity()(x).to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(Identity().describe(), "Identity");
}

}  // namespace
}  // namespace treadle
