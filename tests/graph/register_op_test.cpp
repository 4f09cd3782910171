/// Ops that a program adds: eager, compiled, with their gradient; and what is refused.
#include "treadle/graph/register_op.h"

#include "tests/compile/options.h"
#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

/// y = x·x, whose gradient is said to be 3·x: nobody derives it from the body.
const Op& squared() {
  static const Op& op = register_op(
      {.name = "squared_for_a_test",
       .summary = "y = x·x",
       .infer = [](Specs inputs, const Attributes&) { return std::vector{inputs[0]}; },
       .gradient = [](const GradientContext& c) { return std::vector{c.input(0) * 3 * c.upstream()}; },
       .saves = {{Saved::input, 0}},
       .compose =
           [](const Composition& call) {
             call.run(mul_op(), {call.input(0), call.input(0)}, call.outputs());
           }});
  return op;
}

TEST(RegisterOp, RunsEagerCompiledAndBack) {
  Tensor x = Tensor::from({1, -2, 3}, {3}).set_requires_grad();
  const Tensor y = apply(squared(), {x})[0];
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1, 4, 9}));
  sum(y).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{3, -6, 9}));
  CompiledFunction f([](std::span<const Tensor> inputs) { return apply(squared(), {inputs[0]}); }, kDeclared);
  const Tensor two = Tensor::from({2}, {1});
  EXPECT_EQ(f({&two, 1})[0].to_vector<float>(), std::vector<float>{4});
  EXPECT_EQ(&op_named("squared_for_a_test"), &squared());
}

TEST(RegisterOp, Refuses) {
  squared();
  auto infer = [](Specs inputs, const Attributes&) { return std::vector{inputs[0]}; };
  expect_refused({
      refused<ValueError>("taken", {"'relu'", "already"},
                          [=] { register_op({.name = "relu", .summary = "", .infer = infer}); }),
      refused<ValueError>("no rule", {"'nothing_known'", "shape rule"},
                          [] { register_op({.name = "nothing_known", .summary = ""}); }),
      refused<ValueError>("no body", {"'nothing_runs'", "neither"},
                          [=] { register_op({.name = "nothing_runs", .summary = "", .infer = infer}); }),
  });
}

}  // namespace
}  // namespace treadle
