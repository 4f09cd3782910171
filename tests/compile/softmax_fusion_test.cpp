/// The logarithm of a softmax in programs.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/compile/names_of_steps.h"
#include "tests/compile/options.h"
#include "treadle/compile/compile.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/softmax/softmax.h"

namespace treadle {
namespace {

std::vector<std::string> steps_of(const CompiledFunction& function) {
  return names_of_steps(*function.programs().back().program);
}

CompiledFunction log_of_softmax(int64_t axis) {
  return CompiledFunction([axis](std::span<const Tensor> x) { return std::vector{log(softmax(x[0], axis))}; },
                          kDeclared);
}

TEST(SoftmaxFusion, LogarithmOfASoftmaxIsLogSoftmax) {
  const Tensor x = Tensor::from({1, 2, 3, -200, 0, 1}, {2, 3});
  for (int64_t axis : {0, -1}) {
    CompiledFunction f = log_of_softmax(axis);
    EXPECT_EQ(f({&x, 1})[0].to_vector<float>(), log_softmax(x, axis).to_vector<float>());
    EXPECT_EQ(steps_of(f), std::vector<std::string>{"log_softmax"});
  }
}

TEST(SoftmaxFusion, NotWhereTheSoftmaxIsReadElsewhere) {
  CompiledFunction f(
      [](std::span<const Tensor> x) {
        const Tensor y = softmax(x[0]);
        return std::vector{y, log(y)};
      },
      kDeclared);
  const Tensor x = Tensor::from({1, 2, 3}, {1, 3});
  EXPECT_EQ(f({&x, 1}).size(), 2u);
  EXPECT_EQ(steps_of(f), (std::vector<std::string>{"softmax", "log"}));
}

}  // namespace
}  // namespace treadle
