/// Ops that are declared in terms of others: no variant of their own, yet they run on every device, eager and
/// compiled.
#include "treadle/graph/composition.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/compile/options.h"
#include "tests/compile/restored_settings.h"
#include "treadle/compile/compile.h"
#include "treadle/core/allocator.h"
#include "treadle/core/error.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/select.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/conv2d/conv2d.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"

namespace treadle {
namespace {

std::vector<TensorSpec> like_the_first(Specs inputs, const Attributes&) { return {inputs[0]}; }

/// The product lies in scratch memory.
void residual(const Composition& call) {
  const TensorView &x = call.input(0), &w = call.input(1), &y = call.output();
  const TensorView product = call.scratch(y.shape, y.dtype);
  call.run(matmul_op(), {x, w}, {product});
  call.run(relu_op(), {product}, {product});
  call.run(op_named("add"), {x, product}, {y});
}

/// A convolution whose operands come the other way round.
void filtered(const Composition& call) {
  static const Attributes around = Attributes::of(Conv2dOptions{.padding = 1});
  call.run(conv2d_op(), {call.input(1), call.input(0)}, {call.output()}, around);
}

Registry& made_up_ops() {
  static Registry ops;
  return ops;
}

const Op& residual_op() {
  static const Op& op = made_up_ops().add(
      {.name = "residual", .summary = "y = x + relu(x·w)", .infer = like_the_first, .compose = residual});
  return op;
}

const Op& filtered_op() {
  static const Op& op = made_up_ops().add(
      {.name = "filtered",
       .summary = "y = conv2d(x, w) of w and x",
       .infer = [](Specs inputs, const Attributes&) { return std::vector{TensorSpec{inputs[1]}}; },
       .compose = filtered});
  return op;
}

Tensor residual(const Tensor& x, const Tensor& w) { return apply(residual_op(), {x, w})[0]; }

class Composed : public testing::TestWithParam<DeviceKind> {
 protected:
  const Device device_{GetParam(), 0};
  Tensor x_ = to(randn({7, 5}), device_), w_ = to(randn({5, 5}), device_);
  std::vector<float> wanted(const Tensor& x) const { return (x + relu(matmul(x, w_))).to_vector<float>(); }
};

TEST_P(Composed, RunsEagerly) { EXPECT_EQ(residual(x_, w_).to_vector<float>(), wanted(x_)); }

TEST_P(Composed, RunsInPrograms) {
  auto f = compile([this](Tensor x) { return residual(x, w_); }, kDeclared);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(f(x_).to_vector<float>(), wanted(x_)) << "call " << i;
  EXPECT_EQ(f(x_ * 2.0).to_vector<float>(), wanted(x_ * 2.0));
}

TEST_P(Composed, TakesOperandsAsTheyLie) {
  const Tensor x = transpose(to(randn({5, 7}), device_), 0, 1);
  EXPECT_EQ(residual(x, w_).to_vector<float>(), wanted(x));
}

TEST_P(Composed, OfNothingIsNothing) { EXPECT_EQ(residual(slice(x_, 0, 0, 0), w_).shape(), (Shape{0, 5})); }

TEST_P(Composed, IsAVariantWithAName) {
  const RestoredSettings restored;
  settings().variants["residual"] = "composed";
  EXPECT_EQ(residual(x_, w_).to_vector<float>(), wanted(x_));
  EXPECT_EQ(std::string(variant_named(residual_op(), GetParam(), "composed").name), "composed");
}

/// The steps inside follow the settings as other calls do.
TEST_P(Composed, StepsFollowTheSettings) {
  const RestoredSettings restored;
  settings().variants["matmul"] = "no such variant";
  EXPECT_THROW(residual(x_, w_), ValueError);
}

INSTANTIATE_TEST_SUITE_P(Devices, Composed, testing::Values(DeviceKind::cpu, DeviceKind::simt),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(Composition, ReplaysTakeNothingButPlannedScratch) {
  const Tensor x = randn({7, 5}), w = randn({5, 5});
  auto f = compile([&](Tensor x) { return residual(x, w); }, kDeclared);
  for (int i = 0; i < 3; ++i) f(x);
  const auto before = allocator(kCpu).statistics().allocations;
  for (int i = 0; i < 10; ++i) f(x);
  EXPECT_EQ(allocator(kCpu).statistics().allocations, before);
}

/// im2col keeps filters by their number among the convolution's operands, which is another one outside.
TEST(Composition, WhatStepsKeepFollowsTheOperandsOutside) {
  const RestoredSettings restored;
  settings().variants["conv2d"] = "im2col";
  const Tensor x = randn({2, 3, 6, 6}), w = randn({3, 3, 3, 3});
  auto f = compile([&](Tensor one) { return apply(filtered_op(), {w, x})[0] + one; }, kDeclared);
  const Tensor one = full({1}, 1);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(f(one).to_vector<float>(), (conv2d(x, w, {}, {.padding = 1}) + one).to_vector<float>())
        << "call " << i;
    copy_into(w, randn({3, 3, 3, 3}));
  }
}

}  // namespace
}  // namespace treadle
