/// Where pointwise ops have a kink: which operand the gradient goes to.
#include "treadle/ops/pointwise/pointwise.h"

#include <gtest/gtest.h>

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
