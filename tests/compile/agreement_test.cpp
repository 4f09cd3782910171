/// Awkward functions: whatever a function does with tensors, its compiled form leaves the same values: the
/// same bits where no steps are fused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/compile/names_of_steps.h"
#include "tests/compile/options.h"
#include "tests/compile/restored_settings.h"
#include "tests/random_tensor.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/data/batches.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/op.h"
#include "treadle/graph/settings.h"
#include "treadle/models/model.h"
#include "treadle/ops/conv2d/conv2d.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pool2d/max_pool2d.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/update/optimizer_update.h"
#include "treadle/optim/adam/adam.h"
#include "treadle/optim/sgd/sgd.h"
#include "treadle/train/class_loss.h"

namespace treadle {
namespace {

/// Two small layers' parameters, made anew for each of the runs that are compared.
struct World {
  Tensor x = random_tensor({4, 6}, 1), image = random_tensor({2, 3, 8, 8}, 2);
  Tensor labels = Tensor::from(std::vector<int64_t>{0, 2, 1, 2}, {4});
  Tensor w = random_tensor({5, 6}, 3).detach().set_requires_grad();
  Tensor b = random_tensor({5}, 4).detach().set_requires_grad();
  Tensor v = random_tensor({3, 5}, 5).detach().set_requires_grad();
  Tensor kernel = random_tensor({4, 3, 3, 3}, 6).detach().set_requires_grad();
  Tensor kept = Tensor::zeros({5, 6});
  std::shared_ptr<Optimizer> sgd = std::make_shared<Sgd>(named(), 0.1);
  std::shared_ptr<Optimizer> momentum = std::make_shared<Sgd>(named(), 0.05, SgdOptions{.momentum = 0.9});
  std::shared_ptr<Optimizer> adam = std::make_shared<Adam>(named(), 0.01);
  Tensor lying = transpose(random_tensor({6, 5}, 7), 0, 1).detach().set_requires_grad();
  std::shared_ptr<Optimizer> of_lying =
      std::make_shared<Sgd>(std::vector<NamedTensor>{{"lying", lying}}, 0.1);
  std::vector<Tensor> leaves() const { return {w, b, v, kernel}; }
  std::vector<NamedTensor> named() const { return {{"w", w}, {"b", b}, {"v", v}, {"kernel", kernel}}; }
};

using Function = std::function<std::vector<Tensor>(World&, const Tensor& x)>;
using Between = std::function<void(World&, int call)>;

/// Gradients that an update inside the function has used may be undefined in the compiled run.
enum class Gradients { equal, used_ones_stay_inside };

/// Fused sums of at most some hundred terms of size 10 are added in another order.
constexpr double kFusedTolerance = 500 * 10 * 0x1p-24;

void expect_equal(const Tensor& wanted, const Tensor& got, const std::string& what, double tolerance = 0) {
  ASSERT_EQ(wanted.defined(), got.defined()) << what;
  if (!wanted.defined()) return;
  ASSERT_EQ(wanted.shape(), got.shape()) << what;
  EXPECT_EQ(wanted.dtype(), got.dtype()) << what;
  auto one = wanted.to_doubles(), other = got.to_doubles();
  for (size_t i = 0; i < one.size(); ++i)
    ASSERT_LE(std::abs(one[i] - other[i]), tolerance)
        << what << ", element " << i << ": " << other[i] << " instead of " << one[i];
}

/// Calls the function four times, eager and compiled, and compares all that can be seen after each call.
void expect_agreement(const Function& function, const CompileOptions& options, double tolerance,
                      Gradients gradients, const Between& between) {
  World eager, compiled;
  CompiledFunction step([&](std::span<const Tensor> arguments) { return function(compiled, arguments[0]); },
                        options);
  for (int call = 0; call < 4; ++call) {
    if (between) between(eager, call), between(compiled, call);
    Tensor x = eager.x * double(call + 1);
    auto wanted = function(eager, x), got = step({&x, 1});
    std::string where = fmt::format("{}, call {}", options.fuse ? "fused" : "not fused", call);
    ASSERT_EQ(wanted.size(), got.size());
    for (size_t i = 0; i < wanted.size(); ++i)
      expect_equal(wanted[i], got[i], fmt::format("{}, result {}", where, i), tolerance);
    for (size_t i = 0; i < eager.leaves().size(); ++i) {
      Tensor one = eager.leaves()[i], other = compiled.leaves()[i];
      expect_equal(one, other, fmt::format("{}, leaf {}", where, i), tolerance);
      if (gradients == Gradients::equal || other.grad().defined())
        expect_equal(one.grad(), other.grad(), fmt::format("{}, gradient {}", where, i), tolerance);
    }
    expect_equal(eager.kept, compiled.kept, where + ", kept", tolerance);
    EXPECT_EQ(eager.sgd->step_count(), compiled.sgd->step_count()) << where;
  }
}

void expect_agreement(const Function& function, Gradients gradients = Gradients::equal,
                      const Between& between = {}) {
  expect_agreement(function, kUnfused, 0, gradients, between);
  expect_agreement(function, kDeclared, kFusedTolerance, gradients, between);
}

Tensor loss_of(World& world, const Tensor& x) {
  return cross_entropy(linear(relu(linear(x, world.w, world.b)), world.v), world.labels);
}

void zero_gradients(World& world) {
  for (Tensor leaf : world.leaves()) leaf.set_grad({});
}

/// The steps of the fused program. Of a fusion that turns out not to be possible the results tell nothing:
/// the whole program then stays unfused.
std::vector<std::string> steps_of(const Function& function) {
  World world;
  CompiledFunction step([&](std::span<const Tensor> x) { return function(world, x[0]); }, kDeclared);
  step({&world.x, 1});
  return names_of_steps(*step.programs()[0].program);
}

TEST(Agreement, TwoBackwardPassesAddUp) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    zero_gradients(world);
    Tensor first = loss_of(world, x), second = sum(relu(linear(x, world.w)));
    first.backward();
    second.backward();
    return {first, second};
  });
}

TEST(Agreement, BackwardTwiceThroughOneGraph) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    zero_gradients(world);
    Tensor loss = loss_of(world, x);
    loss.backward({}, true);
    loss.backward();
    return {loss};
  });
}

TEST(Agreement, GradientsGrowFromCallToCall) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    Tensor loss = loss_of(world, x);
    loss.backward();
    return {loss};
  });
}

TEST(Agreement, GradientsGrowThoughAnOptimizerUsesThem) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    Tensor loss = loss_of(world, x);
    loss.backward();
    world.sgd->step();
    return {loss};
  });
}

TEST(Agreement, GradientsDroppedOutside) {
  expect_agreement(
      [](World& world, const Tensor& x) -> std::vector<Tensor> {
        Tensor loss = loss_of(world, x);
        loss.backward();
        return {loss};
      },
      Gradients::equal, [](World& world, int) { zero_gradients(world); });
}

TEST(Agreement, GradientsDroppedInsideAlthoughEagerOnesWereThere) {
  expect_agreement(
      [](World& world, const Tensor& x) -> std::vector<Tensor> {
        zero_gradients(world);
        return {x * 2.0};
      },
      Gradients::equal,
      [](World& world, int call) {
        if (call == 2) loss_of(world, world.x).backward();
      });
}

TEST(Agreement, SharedLeavesAndTheSameTensorTwice) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    zero_gradients(world);
    Tensor y = linear(x, world.w) + linear(x, world.w);
    Tensor z = y + y;
    sum(z * z).backward();
    return {z, z, y};
  });
}

TEST(Agreement, GradientThatTwoLeavesShareAndOneIsScaled) {
  expect_agreement([](World& world, const Tensor&) -> std::vector<Tensor> {
    zero_gradients(world);
    Tensor c = world.b.detach().set_requires_grad();
    sum(world.b + c).backward();
    NoGrad no_grad;
    copy_into(world.b.grad(), world.b.grad() * 3.0);
    return {c.grad()};
  });
}

/// Expected are numbers, since an eager run could be wrong in the same way.
TEST(Agreement, LeavesThatGetOneGradientHoldEachItsOwn) {
  using Floats = std::vector<float>;
  for (const CompileOptions& options : {kUnfused, kDeclared}) {
    Tensor a = Tensor::from({1, 2}, {2}).set_requires_grad(),
           b = Tensor::from({3, 4}, {2}).set_requires_grad();
    auto scaled = [&](std::span<const Tensor> arguments) -> std::vector<Tensor> {
      a.set_grad({}), b.set_grad({});
      sum((a + b) * arguments[0]).backward();
      NoGrad no_grad;
      copy_into(a.grad(), a.grad() * 10.0);
      return {a.grad(), b.grad()};
    };
    CompiledFunction compiled(scaled, options);
    const Tensor x = Tensor::from({5, 6}, {2});
    for (int call = 0; call < 4; ++call) {
      auto results = call == 0 ? scaled({&x, 1}) : compiled({&x, 1});
      EXPECT_EQ(results[0].to_vector<float>(), (Floats{50, 60})) << call;
      EXPECT_EQ(results[1].to_vector<float>(), (Floats{5, 6})) << call;
      EXPECT_EQ(b.grad().to_vector<float>(), (Floats{5, 6})) << call;
    }
  }
}

TEST(Agreement, PositionsOfAPoolBehindAConvolution) {
  expect_agreement([](World& world, const Tensor&) -> std::vector<Tensor> {
    auto [y, positions] = max_pool2d_with_positions(conv2d(world.image, world.kernel));
    return {y, cast(positions, DType::f32)};
  });
}

TEST(Agreement, PoolingThatIsDilatedAlongOneAxis) {
  for (Pair dilation : {Pair(1, 2), Pair(2, 1)})
    expect_agreement([&](World& world, const Tensor&) -> std::vector<Tensor> {
      zero_gradients(world);
      Tensor y = max_pool2d(conv2d(world.image, world.kernel), {.dilation = dilation});
      sum(y * y).backward();
      return {y};
    });
}

TEST(Agreement, OnlyTheSecondResultOfAnOpIsUsed) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    Tensor inside = max_pool2d_with_positions(world.image * sum(x)).positions;
    return {max_pool2d_with_positions(world.image).positions, cast(inside, DType::f32) * 2.0};
  });
}

TEST(Agreement, LeafOfAnIntermediateTakesTheGradient) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    zero_gradients(world);
    Tensor leaf = linear(x, world.w, world.b).detach().set_requires_grad();
    sum(relu(leaf)).backward();
    return {leaf.grad()};
  });
}

TEST(Agreement, DetachInAChain) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    zero_gradients(world);
    Tensor y = linear(x, world.w, world.b);
    Tensor z = relu(y.detach());
    Tensor loss = sum(linear(z, world.v));
    loss.backward();
    return {loss, z};
  });
}

TEST(Agreement, AChainThroughANewLeafIsNotFused) {
  auto function = [](World& world, const Tensor& x) -> std::vector<Tensor> {
    zero_gradients(world);
    Tensor leaf = linear(x, world.w, world.b).detach().set_requires_grad();
    Tensor y = relu(leaf);
    sum(y * y).backward();
    return {leaf.grad(), relu(linear(x, world.w * 2.0, world.b))};
  };
  expect_agreement(function);
  auto steps = steps_of(function);
  EXPECT_EQ(std::count(steps.begin(), steps.end(), "linear_relu"), 1) << testing::PrintToString(steps);
}

TEST(Agreement, AChainThroughADetachedTensorIsNotFused) {
  auto function = [](World& world, const Tensor& x) -> std::vector<Tensor> {
    zero_gradients(world);
    Tensor y = relu(linear(x, world.w, world.b).detach());
    Tensor loss = sum(linear(y, world.v)) + sum(relu(linear(x, world.w)));
    loss.backward();
    return {loss};
  };
  expect_agreement(function);
  auto steps = steps_of(function);
  EXPECT_EQ(std::count(steps.begin(), steps.end(), "linear_relu"), 1) << testing::PrintToString(steps);
}

TEST(Agreement, NoGradInAChain) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    zero_gradients(world);
    Tensor y = linear(x, world.w, world.b);
    Tensor seen = [&] {
      NoGrad no_grad;
      return reshape(y, y.shape());
    }();
    Tensor loss = cross_entropy(linear(relu(y), world.v), world.labels);
    loss.backward();
    return {loss, seen};
  });
}

/// The view is of a buffer that the fused op makes, behind its beginning.
TEST(Agreement, NoGradViewOfAFusedResult) {
  auto function = [](World& world, const Tensor& x) -> std::vector<Tensor> {
    zero_gradients(world);
    Tensor y = relu(linear(x, world.w, world.b));
    Tensor rows = [&] {
      NoGrad no_grad;
      return y.alias({2, 5}, {5, 1}, 10) * 2.0;  // what no step makes
    }();
    sum(y * y).backward();
    return {rows};
  };
  expect_agreement(function);
  auto steps = steps_of(function);
  EXPECT_EQ(std::count(steps.begin(), steps.end(), "linear_relu"), 1) << testing::PrintToString(steps);
}

TEST(Agreement, NoGradViewBeforeTheLoss) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    zero_gradients(world);
    Tensor y = linear(relu(linear(x, world.w, world.b)), world.v);
    Tensor best = [&] {
      NoGrad no_grad;
      return argmax(reshape(y, y.shape()), 1);
    }();
    Tensor loss = cross_entropy(y, world.labels);
    loss.backward();
    return {loss, best};
  });
}

TEST(Agreement, DetachedLeafOverAnIntermediateWithAGraph) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    zero_gradients(world);
    Tensor y = relu(linear(x, world.w, world.b));  // fused
    Tensor leaf = y.detach().set_requires_grad();
    sum(leaf * leaf).backward();
    sum(y * 3.0).backward();
    return {leaf.grad()};
  });
}

TEST(Agreement, IntermediateIsFusedAndReturned) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    zero_gradients(world);
    Tensor y = linear(x, world.w, world.b);
    Tensor z = relu(y);
    sum(z).backward();
    return {y, z};
  });
}

TEST(Agreement, IntermediateIsFusedAndUsedLater) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    zero_gradients(world);
    Tensor y = linear(x, world.w, world.b);
    Tensor z = relu(y);
    Tensor loss = sum(z * y);
    loss.backward();
    return {loss};
  });
}

TEST(Agreement, IntermediateIsTheRootOfABackwardPass) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    zero_gradients(world);
    Tensor y = linear(x, world.w, world.b);
    Tensor z = relu(y);
    z.backward(full(z.shape(), 0.25), true);
    y.backward(full(y.shape(), 0.5));
    return {z};
  });
}

TEST(Agreement, ConvolutionPoolAndActivation) {
  for (bool pool_first : {false, true})
    expect_agreement([=](World& world, const Tensor&) -> std::vector<Tensor> {
      zero_gradients(world);
      Tensor y = conv2d(world.image, world.kernel, {}, {.padding = 1});
      Tensor z = pool_first ? relu(max_pool2d(y)) : max_pool2d(relu(y));
      Tensor flat = flatten(z);
      Tensor loss = sum(flat * flat);
      loss.backward();
      NoGrad no_grad;
      return {loss.detach() * 0.0 + 1.0};
    });
}

TEST(Agreement, WeightUpdatedBetweenTheOpsOfAChain) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    NoGrad no_grad;
    Tensor y = linear(x, world.w.detach(), world.b.detach());
    copy_into(world.w.detach(), world.w.detach() * 0.5);
    return {relu(y), linear(x, world.w)};
  });
}

TEST(Agreement, InputOfTheGradientUpdatedBeforeBackwardThrows) {
  World world;
  CompiledFunction step(
      [&](std::span<const Tensor> arguments) -> std::vector<Tensor> {
        Tensor loss = loss_of(world, arguments[0]);
        {
          NoGrad no_grad;
          copy_into(world.v, world.v * 0.5);
        }
        loss.backward();
        return {loss};
      },
      kDeclared);
  Tensor x = world.x;
  auto before = world.v.to_doubles();
  EXPECT_THROW(step({&x, 1}), AutogradError);
  EXPECT_EQ(world.v.to_doubles(), before);
}

TEST(Agreement, AFailedBackwardPassThatTheFunctionCatches) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    zero_gradients(world);
    Tensor loss = loss_of(world, x);
    loss.backward();
    try {
      loss.backward();  // its graph is freed
      ADD_FAILURE() << "nothing was thrown";
    } catch (const AutogradError&) {
    }
    return {loss, relu(linear(x, world.w.detach()))};
  });
}

TEST(Agreement, LeafUsedBeforeAndAfterItsUpdate) {
  expect_agreement(
      [](World& world, const Tensor& x) -> std::vector<Tensor> {
        zero_gradients(world);
        Tensor first = loss_of(world, x);
        first.backward();
        {
          NoGrad no_grad;
          update_parameter<SgdRule>({world.w, world.w.grad()}, {{}, 0.1});
        }
        Tensor second = loss_of(world, x);
        return {first, second};
      },
      Gradients::used_ones_stay_inside);
}

TEST(Agreement, GradientCopiedElsewhereIsStillTheLeafs) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    zero_gradients(world);
    Tensor loss = loss_of(world, x);
    loss.backward();
    NoGrad no_grad;
    copy_into(world.kept, world.w.grad());
    return {loss};
  });
}

TEST(Agreement, GradientsReadScaledAndSetBeforeTheUpdate) {
  expect_agreement(
      [](World& world, const Tensor& x) -> std::vector<Tensor> {
        world.momentum->zero_grad();
        Tensor loss = loss_of(world, x);
        loss.backward();
        NoGrad no_grad;
        Tensor norm = sqrt(sum(world.w.grad() * world.w.grad()));
        copy_into(world.w.grad(), world.w.grad() * (1.0 / (norm + 1.0)));
        world.b.set_grad(world.b.grad() * 0.5);
        world.momentum->step();
        return {loss, norm};
      },
      Gradients::used_ones_stay_inside);
}

TEST(Agreement, GradientSetToAnArgumentAConstantAndACapturedTensor) {
  Tensor captured = random_tensor({5}, 9);
  expect_agreement([&](World& world, const Tensor& x) -> std::vector<Tensor> {
    zero_gradients(world);
    world.w.set_grad(slice(x, 0, 0, 1) + full({5, 1}, 0));
    world.b.set_grad(captured);
    world.v.set_grad(Tensor::zeros({3, 5}));
    return {};
  });
}

TEST(Agreement, GradientSetToAnArgumentItself) {
  expect_agreement([&](World& world, const Tensor& x) -> std::vector<Tensor> {
    zero_gradients(world);
    world.v.set_grad(expand(slice(slice(x, 0, 0, 1), 1, 0, 5), {3, 5}));
    return {};
  });
}

TEST(Agreement, TwoOptimizersAndAFrozenParameter) {
  expect_agreement(
      [](World& world, const Tensor& x) -> std::vector<Tensor> {
        world.sgd->zero_grad();
        Tensor loss = loss_of(world, x);
        loss.backward();
        world.sgd->step(), world.adam->step(), world.sgd->step();
        return {loss};
      },
      Gradients::used_ones_stay_inside, [](World& world, int call) { world.b.set_requires_grad(call < 2); });
}

TEST(Agreement, GradientsDroppedBeforeByTheCaller) {
  expect_agreement(
      [](World& world, const Tensor& x) -> std::vector<Tensor> {
        Tensor loss = loss_of(world, x);
        loss.backward();
        world.sgd->step();
        return {loss};
      },
      Gradients::used_ones_stay_inside, [](World& world, int) { zero_gradients(world); });
}

TEST(Agreement, ZeroGradAfterTheUpdate) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    Tensor loss = loss_of(world, x);
    loss.backward();
    world.sgd->step();
    world.sgd->zero_grad();
    return {loss};
  });
}

TEST(Agreement, OnlyTheUpdateIsCompiled) {
  expect_agreement(
      [](World& world, const Tensor&) -> std::vector<Tensor> {
        world.sgd->step();
        return {};
      },
      Gradients::equal,
      [](World& world, int) {
        zero_gradients(world);
        loss_of(world, world.x).backward();
      });
}

TEST(Agreement, TransposedWeightIsUpdated) {
  expect_agreement(
      [](World& world, const Tensor& x) -> std::vector<Tensor> {
        Tensor loss = mean(relu(linear(x, world.lying, {})));
        world.of_lying->zero_grad();
        loss.backward();
        world.of_lying->step();
        return {loss, world.lying.detach() + 0.0};
      },
      Gradients::used_ones_stay_inside);
}

TEST(Agreement, HookScalesTheGradient) {
  expect_agreement(
      [](World& world, const Tensor& x) -> std::vector<Tensor> {
        zero_gradients(world);
        Tensor loss = loss_of(world, x);
        loss.backward();
        return {loss};
      },
      Gradients::equal,
      [](World& world, int call) {
        if (call == 0)
          register_gradient_hook(world.w,
                                 [](const Tensor& gradient) { copy_into(gradient, gradient * 2.0); });
      });
}

TEST(Agreement, UpstreamThatWasOneAndIsScaled) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    zero_gradients(world);
    Tensor scalar = sum(world.b).detach().set_requires_grad();
    Tensor loss = loss_of(world, x);
    reshape(scalar, {}).backward();  // its gradient is what backward() starts from
    {
      NoGrad no_grad;
      copy_into(scalar.grad(), scalar.grad() * 3.0);
    }
    loss.backward(scalar.grad());
    return {loss};
  });
}

TEST(Agreement, ReturnedParametersConstantsAndUndefinedTensors) {
  expect_agreement([](World& world, const Tensor& x) -> std::vector<Tensor> {
    return {world.w,  transpose(world.w, 0, 1), Tensor::from({1, 2}, {2}),
            Tensor(), slice(x, 1, 2, 4),        slice(x * 2.0, 0, 1, 3)};
  });
}

TEST(Agreement, WhatTheCallerDoesWithResultsStaysWithTheCaller) {
  auto f = compile(
      [](Tensor x) {
        return std::tuple<Tensor, Tensor, Tensor>(Tensor::zeros({2}), Tensor::from({1, 2}, {2}), x + 1.0);
      },
      kDeclared);
  for (int i = 0; i < 4; ++i) {
    Tensor x = full({2}, i);
    auto [zeros, constant, next] = f(x);
    EXPECT_EQ(zeros.to_vector<float>(), std::vector<float>(2, 0)) << i;
    EXPECT_EQ(constant.to_vector<float>(), (std::vector<float>{1, 2})) << i;
    EXPECT_EQ(next.to_vector<float>(), std::vector<float>(2, float(i + 1))) << i;
    EXPECT_FALSE(next.requires_grad()) << i;
    EXPECT_EQ(next.shape(), Shape({2}));
    fill_(zeros, 7), fill_(constant, 7), fill_(next, 7);
    if (i == 1) next.assign(Tensor::zeros({5}));
    next.set_requires_grad();
    sum(next).backward();
  }
}

/// Handles of captured tensors, views of them, and arguments: another handle each time that one is held.
TEST(Agreement, WhatTheCallerDoesWithReturnedCapturedTensorsStaysWithTheCaller) {
  World world;
  auto f = compile(
      [&](Tensor x) {
        world.b.set_grad(world.kept), world.v.set_grad(x);
        return std::pair<Tensor, Tensor>(world.kept, slice(world.kept, 0, 1, 2));
      },
      kDeclared);
  world.b = random_tensor({5, 6}, 1).detach().set_requires_grad();
  world.v = random_tensor({5, 6}, 1).detach().set_requires_grad();
  const Tensor x = random_tensor({5, 6}, 8);
  const auto wanted = world.kept.to_doubles(), part = slice(world.kept, 0, 1, 2).to_doubles();
  const auto given = x.to_doubles();
  std::vector<Tensor> held;
  for (int i = 0; i < 5; ++i) {
    auto [whole, view] = f(x);
    EXPECT_EQ(whole.to_doubles(), wanted) << i;
    EXPECT_EQ(view.to_doubles(), part) << i;
    EXPECT_EQ(world.b.grad().to_doubles(), wanted) << i;
    for (const Tensor& tensor : {whole, view, world.b.grad(), world.v.grad()}) tensor.assign(full({2}, 7));
    EXPECT_EQ(x.to_doubles(), given) << i;
    if (i % 2) held.push_back(whole);
  }
  EXPECT_EQ(world.kept.to_doubles(), wanted);
  EXPECT_FALSE(f(x).first.requires_grad());
}

TEST(Agreement, AGradientThatIsOnlyReadStaysWhereItIs) {
  World world;
  world.w.set_grad(random_tensor({5, 6}, 9));
  const Tensor held = world.w.grad();
  auto norm = compile([&] { return sum(world.w.grad() * world.w.grad()); }, kDeclared);
  for (int i = 1; i <= 5; ++i) {
    fill_(held, i);
    EXPECT_EQ(norm().item(), 30 * i * i);
    EXPECT_EQ(world.w.grad().handle(), held.handle()) << i;
  }
}

TEST(Agreement, AConstantGradientIsTheLeafsOwn) {
  World world;
  auto f = compile([&] { world.b.set_grad(Tensor::zeros({5})); }, kDeclared);
  for (int i = 0; i < 3; ++i) {
    f();
    EXPECT_EQ(world.b.grad().to_vector<float>(), std::vector<float>(5, 0));
    fill_(world.b.grad(), 3);
  }
}

TEST(Agreement, PoolingOverMorePlacesThanTheFusedOpTakesStaysApart) {
  const Tensor image = random_tensor({2, 3, 18, 18}, 2);
  auto function = [&](World& world, const Tensor& x) -> std::vector<Tensor> {
    return {max_pool2d(conv2d(image, world.kernel), {.kernel = 16}), relu(linear(x, world.w, world.b))};
  };
  expect_agreement(function);
  EXPECT_EQ(steps_of(function), (std::vector<std::string>{"conv2d", "max_pool2d", "linear_relu"}));
}

TEST(Agreement, ResultsAreHeldAsViewsOrFedBack) {
  auto f = compile([](Tensor x) { return x * 2.0; }, kDeclared);
  Tensor y = full({4}, 1);
  std::vector<Tensor> halves;
  for (int i = 1; i <= 5; ++i) {
    y = f(y);
    halves.push_back(slice(y, 0, 0, 2));
  }
  for (int i = 1; i <= 5; ++i)
    EXPECT_EQ(halves[size_t(i - 1)].to_vector<float>(), std::vector<float>(2, float(1 << i)));
}

TEST(Agreement, ResultsOutliveTheProgram) {
  Tensor y, gradient;
  {
    World world;
    auto f = compile(
        [&](Tensor x) {
          zero_gradients(world);
          Tensor loss = loss_of(world, x);
          loss.backward();
          return loss;
        },
        kDeclared);
    for (int i = 0; i < 3; ++i) y = f(world.x), gradient = world.w.grad();
  }
  EXPECT_TRUE(std::isfinite(y.item()));
  EXPECT_EQ(gradient.to_doubles().size(), 30u);
}

TEST(Agreement, NothingGoesInAndNothingComesOut) {
  World world;
  auto step = compile([&] { copy_into(world.kept, world.kept + 1.0); }, kDeclared);
  for (int i = 0; i < 4; ++i) step();
  EXPECT_EQ(world.kept.to_doubles(), full({5, 6}, 4).to_doubles());
  auto nothing = compile([] {}, kDeclared);
  for (int i = 0; i < 3; ++i) nothing();
}

TEST(Agreement, EmptyBatchesAndOtherLayouts) {
  World world;
  auto f = [&](Tensor x) { return relu(linear(x, world.w, world.b)); };
  auto compiled = compile(f, kDeclared);
  NoGrad no_grad;
  for (int i = 0; i < 3; ++i) {
    Tensor wide = random_tensor({6, 4}, uint64_t(i));
    for (const Tensor& x :
         {Tensor::empty({0, 6}), transpose(wide, 0, 1), slice(random_tensor({9, 6}, 3), 0, 0, 9, 2),
          expand(random_tensor({1, 6}, 4), {3, 6})})
      expect_equal(f(x), compiled(x), "layout");
  }
  EXPECT_EQ(compiled.programs().size(), 4u);
}

/// The mean over no rows is NaN, and its gradients are zero: sums over no rows.
void train_on_empty_batches(const ModelInfo& info, const std::string& optimizer_name, bool compiled) {
  const Tensor y = Tensor::empty({0}, DType::i64);
  auto model = make_model(info.name, 3);
  if (!model->named_buffers().empty()) return;  // there are no statistics of an empty batch
  auto optimizer = make_optimizer(optimizer_name, model->named_parameters(), 0.1);
  auto work = [&](Tensor images, Tensor labels) {
    optimizer->zero_grad();
    Tensor loss = class_loss((*model)(images), labels);
    loss.backward();
    optimizer->step();
    return loss;
  };
  auto step = compile(work);
  const Tensor x = Tensor::empty(batch_shape(0, info.input), info.input_dtype);
  std::vector<std::vector<double>> before;
  for (const Tensor& parameter : model->parameters()) before.push_back(parameter.to_doubles());
  for (int i = 0; i < 3; ++i) compiled ? step(x, y) : work(x, y);
  for (size_t i = 0; i < before.size(); ++i) {
    const auto after = model->parameters()[i].to_doubles();
    for (size_t k = 0; k < after.size();
         ++k)  // decay alone moves it: Muon's, 0.1 of it times the rate in each of three steps
      ASSERT_LE(std::abs(after[k] - before[i][k]), 0.0301 * std::abs(before[i][k]))
          << info.name << ' ' << optimizer_name << ' ' << model->named_parameters()[i].name;
  }
}

/// Each model with one optimizer, and the first model with all: not every pair, of which the large ones take
/// long.
void train_on_empty_batches() {
  const auto& models = known_models();
  const auto& optimizers = known_optimizers();
  for (size_t m = 0; m < models.size(); ++m)
    for (size_t o = 0; o < optimizers.size(); ++o)
      if (m == 0 || m % optimizers.size() == o)
        for (bool compiled : {false, true}) train_on_empty_batches(models[m], optimizers[o], compiled);
}

TEST(Agreement, TrainingOnAnEmptyBatchLeavesParametersFinite) {
  const RestoredSettings restored;
  train_on_empty_batches();
  settings().own_engine_only = true;
  train_on_empty_batches();
}

TEST(Agreement, ChannelsLastArgument) {
  World world;
  auto f = [&](Tensor x) { return flatten(max_pool2d(relu(conv2d(x, world.kernel)))); };
  auto compiled = compile(f, kDeclared);
  for (int i = 0; i < 3; ++i)
    for (const Tensor& x : {world.image, to_channels_last(world.image)}) {
      auto wanted = f(x).to_doubles(), got = compiled(x).to_doubles();
      ASSERT_EQ(wanted.size(), got.size());
      for (size_t k = 0; k < wanted.size(); ++k) EXPECT_NEAR(wanted[k], got[k], kFusedTolerance);
    }
}

TEST(Agreement, OtherDtypes) {
  for (DType dtype : {DType::f64, DType::f16, DType::bf16}) {
    Tensor w = random_tensor({5, 6}, 3, kCpu, dtype).detach().set_requires_grad();
    Tensor other = random_tensor({5, 6}, 3, kCpu, dtype).detach().set_requires_grad();
    auto f = [](const Tensor& weight, Tensor x) {
      Tensor copy = weight;
      copy.set_grad({});
      Tensor loss = sum(relu(linear(x, weight)));
      loss.backward();
      NoGrad no_grad;
      update_parameter<SgdRule>({weight, weight.grad()}, {{}, 0.125});
      return loss;
    };
    auto compiled = compile([&](Tensor x) { return f(other, x); }, kUnfused);
    for (int i = 0; i < 3; ++i) {
      Tensor x = random_tensor({3, 6}, uint64_t(i), kCpu, dtype);
      expect_equal(f(w, x), compiled(x), std::string(name_of(dtype)));
    }
    expect_equal(w, other, std::string(name_of(dtype)));
  }
}

}  // namespace
}  // namespace treadle
