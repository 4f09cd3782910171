/// Where pointwise ops have a kink, and which operand the gradient goes to; large operands.
#include "treadle/ops/pointwise/pointwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

using Values = std::vector<float>;
using Extremum = Tensor (*)(const Operand&, const Operand&);

TEST(Pointwise, AbsIsFlatAtZero) {
  Tensor x = Tensor::from({-2, 0, 3}, {3}).set_requires_grad();
  sum(abs(x)).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (Values{-1, 0, 1}));
}

TEST(Pointwise, SoftplusIsSharpAndDoesNotOverflow) {
  Tensor x = Tensor::from({-1000, 0, 1000}, {3}).set_requires_grad();
  Tensor y = softplus(x, 4);
  sum(y).backward();
  EXPECT_EQ(y.to_vector<float>(), (Values{0, std::log(2.f) / 4, 1000}));
  EXPECT_EQ(x.grad().to_vector<float>(), (Values{0, 0.5, 1}));
  x = Tensor::from({0.5}, {1}).set_requires_grad();
  sum(softplus(x, 2)).backward();
  EXPECT_FLOAT_EQ(x.grad().to_vector<float>()[0], 1 / (1 + std::exp(-1.f)));
}

TEST(Pointwise, ActivationsDoNotOverflow) {
  using Function = std::function<Tensor(const Tensor&)>;
  auto expect = [](const char* name, const Function& function, const Values& values, const Values& slopes) {
    Tensor x = Tensor::from({-1000, 0, 1000}, {3}).set_requires_grad();
    const Tensor y = function(x);
    sum(y).backward();
    EXPECT_EQ(y.to_vector<float>(), values) << name;
    EXPECT_EQ(x.grad().to_vector<float>(), slopes) << name;
  };
  expect("elu", [](const Tensor& x) { return elu(x, 0.5); }, {-0.5, 0, 1000}, {0, 0.5, 1});
  expect("celu", [](const Tensor& x) { return celu(x, 4); }, {-4, 0, 1000}, {0, 1, 1});
  expect("mish", mish, {0, 0, 1000}, {0, 0.6, 1});
  expect("log_sigmoid", log_sigmoid, {-1000, -std::log(2.f), 0}, {1, 0.5, 0});
}

/// At a tie the first operand takes the whole gradient.
TEST(Pointwise, ExtremaOfEqualOperands) {
  for (Extremum extremum : {maximum, minimum}) {
    Tensor a = Tensor::from({1, 2, 3}, {3}).set_requires_grad(),
           b = Tensor::from({1, 2, 3}, {3}).set_requires_grad();
    sum(extremum(a, b)).backward();
    EXPECT_EQ(a.grad().to_vector<float>(), (Values{1, 1, 1}));
    EXPECT_EQ(b.grad().to_vector<float>(), (Values{0, 0, 0}));
  }
}

}  // namespace
}  // namespace treadle
