/// Linear layers in programs: input gradients that skip what a ReLU drops, and updates that come early.
///
/// Numbers are small integers and powers of two: every sum is exact in f32, so that eager and compiled runs
/// leave the same bits whatever the order of their sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/compile/names_of_steps.h"
#include "tests/compile/options.h"
#include "tests/compile/restored_settings.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/settings.h"
#include "treadle/models/model.h"
#include "treadle/ops/conv2d/conv2d.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/concat.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/functions/relu.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pool2d/max_pool2d.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/optim/sgd/sgd.h"
#include "treadle/train/classification/training_step.h"

namespace treadle {
namespace {

/// Integers in [-2, 2], seeded.
Tensor integers(const Shape& shape, uint64_t seed, Device device = kCpu, DType dtype = DType::f32) {
  std::vector<double> values(size_t(shape.numel()));
  for (double& value : values) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    value = double(seed >> 33) / double(1u << 31);
    value = std::floor(value * 5) - 2;
  }
  return with_floating_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> converted(values.begin(), values.end());
    return Tensor::from(std::span<const T>(converted), shape, device);
  });
}

/// Convolution, two linear layers and an optimiser; made anew for each of the runs that are compared.
struct LinearWorld {
  Device device = kCpu;
  DType dtype = DType::f32;
  Tensor kernel = leaf({3, 2, 3, 3}, 1), w = leaf({5, 12}, 2), b = leaf({5}, 3), v = leaf({4, 5}, 4);
  Tensor images = integers({6, 2, 11, 11}, 5, device, dtype), rows = integers({6, 12}, 6, device, dtype);
  Tensor scale = integers({6, 4}, 7, device, dtype), captured = integers({6, 12}, 8, device, dtype);
  std::shared_ptr<Sgd> sgd = std::make_shared<Sgd>(
      std::vector<NamedTensor>{{"kernel", kernel}, {"w", w}, {"b", b}, {"v", v}}, 0x1p-4);
  std::shared_ptr<Sgd> decaying = std::make_shared<Sgd>(
      std::vector<NamedTensor>{{"w", w}, {"b", b}, {"v", v}}, 0x1p-4, SgdOptions{.weight_decay = 1});

  explicit LinearWorld(Device device = kCpu, DType dtype = DType::f32) : device(device), dtype(dtype) {}
  Tensor leaf(const Shape& shape, uint64_t seed) const {
    return integers(shape, seed, device, dtype).set_requires_grad();
  }
  std::vector<Tensor> leaves() const { return {kernel, w, b, v}; }
  void drop_gradients() {
    for (Tensor leaf : leaves()) leaf.set_grad({});
  }
};

/// A function of a world; its argument is the world's rows.
using LinearFunction = std::function<std::vector<Tensor>(LinearWorld&, const Tensor& rows)>;

Tensor head(LinearWorld& world, const Tensor& hidden) { return sum(linear(hidden, world.v) * world.scale); }

/// Pooling of stride-2 convolutions, which no variant computes other than by sums of products.
Tensor pooled(LinearWorld& world) {
  return max_pool2d(conv2d(world.images, world.kernel, {}, {.stride = 2}));  // [6, 3, 2, 2]
}

std::vector<Tensor> perceptron(LinearWorld& world, const Tensor& rows) {
  world.drop_gradients();
  Tensor loss = head(world, relu(linear(rows, world.w, world.b)));
  loss.backward();
  return {loss};
}

std::vector<Tensor> convolutional(LinearWorld& world, const Tensor&) {
  world.drop_gradients();
  Tensor loss = head(world, relu(linear(flatten(relu(pooled(world))), world.w, world.b)));
  loss.backward();
  return {loss};
}

Tensor relu_gradient(const Tensor& y, const Tensor& dy) {
  return apply(op_named("relu_gradient"), {y, dy},
               Attributes::of(GradientOf<functions::Relu>(functions::Relu{})))[0];
}

int64_t count_of(const std::vector<std::string>& names, const std::string& name) {
  return std::count(names.begin(), names.end(), name);
}

void expect_same(const Tensor& wanted, const Tensor& got, const std::string& what) {
  ASSERT_EQ(wanted.defined(), got.defined()) << what;
  if (!wanted.defined()) return;
  auto one = wanted.to_doubles(), other = got.to_doubles();
  ASSERT_EQ(one.size(), other.size()) << what;
  for (size_t i = 0; i < one.size(); ++i)
    ASSERT_TRUE(one[i] == other[i] || (std::isnan(one[i]) && std::isnan(other[i])))
        << what << ", element " << i << ": " << other[i] << " instead of " << one[i];
}

/// Calls the function three times, eager and compiled, expects equal results, leaves and gradients, and
/// returns the names of the program's steps.
std::vector<std::string> steps_of(const LinearFunction& function, const CompileOptions& options = kDeclared,
                                  Device device = kCpu, DType dtype = DType::f32) {
  LinearWorld eager(device, dtype), compiled(device, dtype);
  CompiledFunction step([&](std::span<const Tensor> arguments) { return function(compiled, arguments[0]); },
                        options);
  for (int call = 0; call < 3; ++call) {
    auto wanted = function(eager, eager.rows), got = step({&compiled.rows, 1});
    for (size_t i = 0; i < wanted.size(); ++i) expect_same(wanted[i], got[i], fmt::format("result {}", i));
    for (size_t i = 0; i < eager.leaves().size(); ++i) {
      const Tensor one = eager.leaves()[i], other = compiled.leaves()[i];
      expect_same(one, other, fmt::format("leaf {}", i));
      if (other.grad().defined()) expect_same(one.grad(), other.grad(), fmt::format("gradient {}", i));
    }
  }
  return names_of_steps(*step.programs()[0].program);
}

/// The steps of a training step of one of the models.
std::vector<std::string> training_steps(const std::string& name, const Shape& image) {
  auto model = make_model(name, 1);
  Sgd sgd(model->named_parameters(), 0.1);
  auto step = compile([&](Tensor x, Tensor y) { return TrainingStep{*model, sgd}(x, y); }, kDeclared);
  Shape shape{3};
  for (int64_t extent : image) shape.push_back(extent);
  step(rand(shape), Tensor::from(std::vector<int64_t>{1, 0, 2}, {3}));
  return names_of_steps(*step.programs()[0].program);
}

TEST(LinearFusion, FashionCnnSkipsZerosAndUpdatesAtOnce) {
  auto steps = training_steps("fashion_cnn", {1, 28, 28});
  EXPECT_EQ(count_of(steps, "matmul"), 0);
  EXPECT_EQ(count_of(steps, "relu_gradient"), 0);
  const std::vector<std::string> pair{"linear_input_gradient", "linear_sgd_update"},
      wanted{pair[0], pair[1], pair[0], pair[1], "conv2d_max_pool2d_input_gradient"};
  EXPECT_NE(std::search(steps.begin(), steps.end(), wanted.begin(), wanted.end()), steps.end())
      << testing::PrintToString(steps);
}

TEST(LinearFusion, PerceptronSkipsZerosAndUpdatesAtOnce) {
  auto steps = training_steps("mlp", {1, 28, 28});
  const std::vector<std::string> wanted{
      "linear_relu",       "linear",           "cross_entropy_with_gradient", "linear_input_gradient",
      "linear_sgd_update", "linear_sgd_update"};
  EXPECT_EQ(steps, wanted);
}

TEST(LinearFusion, OfReluAgrees) {
  for (DType dtype : {DType::f32, DType::f64}) {
    auto steps = steps_of(perceptron, kDeclared, kCpu, dtype);
    EXPECT_EQ(count_of(steps, "linear_input_gradient"), 1);
    EXPECT_EQ(count_of(steps, "relu_gradient"), 0);
  }
}

TEST(LinearFusion, OfUpdatesWithWeightDecayAgrees) {
  auto steps = steps_of([](LinearWorld& world, const Tensor& rows) {
    auto results = perceptron(world, rows);
    world.decaying->step();
    return results;
  });
  EXPECT_EQ(count_of(steps, "linear_sgd_update"), 2);
}

TEST(LinearFusion, NotOfAnUpdateBehindAWriteIntoItsOperand) {
  auto steps = steps_of([](LinearWorld& world, const Tensor&) -> std::vector<Tensor> {
    world.drop_gradients();
    Tensor loss = head(world, relu(linear(world.captured, world.w, world.b)));
    loss.backward();
    {
      NoGrad no_grad;
      copy_into(world.captured, world.captured * -1.0);
    }
    world.decaying->step();
    return {loss};
  });
  EXPECT_EQ(count_of(steps, "linear_sgd_update"), 1);  // the other layer's
}

TEST(LinearFusion, OfPoolingAgrees) {
  auto steps = steps_of(convolutional);
  EXPECT_EQ(count_of(steps, "linear_input_gradient"), 2);
  EXPECT_EQ(count_of(steps, "matmul"), 0);
  EXPECT_EQ(count_of(steps, "conv2d_max_pool2d_weight_gradient"), 1);
}

TEST(LinearFusion, OfTwoReadersOfAPoolAgrees) {
  auto steps = steps_of([](LinearWorld& world, const Tensor&) -> std::vector<Tensor> {
    world.drop_gradients();
    Tensor images = integers({6, 2, 11, 11}, 5).set_requires_grad();
    Tensor y = relu(max_pool2d(conv2d(images * 1.0, world.kernel, {}, {.stride = 2})));
    Tensor loss = head(world, linear(flatten(y), world.w, world.b));
    loss.backward();
    return {loss, images.grad()};
  });
  EXPECT_EQ(count_of(steps, "linear_input_gradient"), 1);
  EXPECT_EQ(count_of(steps, "conv2d_max_pool2d_input_gradient"), 1);
}

TEST(LinearFusion, OfReluOnRowsOfABatchAgrees) {
  auto steps = steps_of([](LinearWorld& world, const Tensor& rows) -> std::vector<Tensor> {
    world.drop_gradients();
    Tensor hidden = relu(linear(reshape(rows, {2, 3, 12}), world.w, world.b));
    Tensor loss = sum(linear(hidden, world.v) * reshape(world.scale, {2, 3, 4}));
    loss.backward();
    return {loss};
  });
  EXPECT_EQ(count_of(steps, "linear_input_gradient"), 1);
}

TEST(LinearFusion, LetsNaNThroughAsReluDoes) {
  auto with_nan = [](LinearWorld& world, const Tensor& rows) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    Tensor spoiled = concat({slice(rows, 0, 0, 5), full({1, 12}, nan)}, 0);
    return perceptron(world, spoiled);
  };
  auto steps = steps_of(with_nan);
  EXPECT_EQ(count_of(steps, "linear_input_gradient"), 1);
}

TEST(LinearFusion, OnOtherDevicesOnlyInPlaceOfReluGradient) {
  const Device simt{DeviceKind::simt, 0};
  EXPECT_EQ(count_of(steps_of(perceptron, kDeclared, simt), "linear_input_gradient"), 1);
  EXPECT_EQ(count_of(steps_of(convolutional, kDeclared, simt), "linear_input_gradient"), 1);
}

TEST(LinearFusion, NotOfHalfTypesBehindAPool) {
  auto steps = steps_of(convolutional, kDeclared, kCpu, DType::f16);
  EXPECT_EQ(count_of(steps, "linear_input_gradient"), 1);  // the one behind ReLU
  EXPECT_EQ(count_of(steps, "matmul"), 1);
}

TEST(LinearFusion, NotWhereNothingIsFused) {
  auto steps = steps_of(perceptron, {.measure = false, .fuse = false});
  EXPECT_EQ(count_of(steps, "linear_input_gradient"), 0);
}

TEST(LinearFusion, NotWithoutRelu) {
  auto steps = steps_of([](LinearWorld& world, const Tensor&) -> std::vector<Tensor> {
    world.drop_gradients();
    Tensor loss = head(world, linear(flatten(pooled(world)), world.w, world.b));
    loss.backward();
    return {loss};
  });
  EXPECT_EQ(count_of(steps, "conv2d_max_pool2d"), 1);
  EXPECT_EQ(count_of(steps, "linear_input_gradient"), 0);
  EXPECT_EQ(count_of(steps, "matmul"), 2);
}

TEST(LinearFusion, NotWhereTheGradientIsReadElsewhere) {
  auto steps = steps_of([](LinearWorld& world, const Tensor& rows) -> std::vector<Tensor> {
    world.drop_gradients();
    Tensor hidden = relu(linear(rows, world.w, world.b));
    Tensor loss = head(world, hidden) + sum(hidden);  // the two gradients of hidden are added
    loss.backward();
    return {loss};
  });
  EXPECT_EQ(count_of(steps, "linear_input_gradient"), 0);
  EXPECT_EQ(count_of(steps, "pointwise_chain"), 1);  // relu_gradient and what adds
}

TEST(LinearFusion, NotWhereTheGradientIsReturned) {
  auto steps = steps_of([](LinearWorld& world, const Tensor& rows) -> std::vector<Tensor> {
    world.drop_gradients();
    NoGrad no_grad;
    Tensor hidden = relu(linear(rows, world.w, world.b));
    Tensor gradient = matmul(world.scale, world.v);
    return {gradient, relu_gradient(hidden, gradient)};
  });
  EXPECT_EQ(count_of(steps, "linear_input_gradient"), 0);
}

/// y may be negative here, and is written between.
TEST(LinearFusion, NotByAnythingButTheResultOfARelu) {
  auto steps = steps_of([](LinearWorld& world, const Tensor& rows) -> std::vector<Tensor> {
    NoGrad no_grad;
    Tensor y = linear(rows, world.w, world.b), z = relu(linear(rows, world.w, world.b));
    Tensor first = relu_gradient(y, matmul(world.scale, world.v));
    Tensor gradient = matmul(world.scale, world.v);
    copy_into(z, z - 1.0);
    return {first, relu_gradient(z, gradient)};
  });
  EXPECT_EQ(count_of(steps, "linear_input_gradient"), 0);
  EXPECT_EQ(count_of(steps, "relu_gradient"), 2);
}

TEST(LinearFusion, NotWhereTwoReluGradientsReadIt) {
  auto steps = steps_of([](LinearWorld& world, const Tensor& rows) -> std::vector<Tensor> {
    NoGrad no_grad;
    Tensor y = relu(linear(rows, world.w, world.b)), z = relu(linear(rows * 2.0, world.w));
    Tensor gradient = matmul(world.scale, world.v);
    return {relu_gradient(y, gradient), relu_gradient(z, gradient)};
  });
  EXPECT_EQ(count_of(steps, "linear_input_gradient"), 0);
}

TEST(LinearFusion, NotByAResultThatIsMadeLater) {
  auto steps = steps_of([](LinearWorld& world, const Tensor& rows) -> std::vector<Tensor> {
    NoGrad no_grad;
    Tensor gradient = matmul(world.scale, world.v);
    return {relu_gradient(relu(linear(rows, world.w, world.b)), gradient)};
  });
  EXPECT_EQ(count_of(steps, "linear_input_gradient"), 0);
}

TEST(LinearFusion, NotInAnotherOrderOfElements) {
  auto steps = steps_of([](LinearWorld& world, const Tensor& rows) -> std::vector<Tensor> {
    NoGrad no_grad;
    Tensor y = relu(linear(slice(rows, 0, 0, 5), world.w, world.b));  // [5, 5]
    Tensor gradient = matmul(slice(world.scale, 0, 0, 5), world.v);
    return {relu_gradient(y, transpose(gradient, 0, 1))};
  });
  EXPECT_EQ(count_of(steps, "linear_input_gradient"), 0);
}

TEST(LinearFusion, NotOfOpsWhoseVariantTheUserNames) {
  const RestoredSettings restored;
  for (const char* op : {"matmul", "relu_gradient"}) {
    settings().variants = {{op, "loop"}};
    EXPECT_EQ(count_of(steps_of(perceptron), "linear_input_gradient"), 0) << op;
  }
}

/// Two layers and SGD; what comes `between` the gradients and the update is the test's.
LinearFunction training(const std::function<Tensor(LinearWorld&, const Tensor&)>& between) {
  return [=](LinearWorld& world, const Tensor& rows) -> std::vector<Tensor> {
    auto results = perceptron(world, rows);
    if (between) {
      NoGrad no_grad;
      results.push_back(between(world, rows));
    }
    world.sgd->step();
    return results;
  };
}

std::vector<size_t> places_of(const std::vector<std::string>& steps, const std::string& name) {
  std::vector<size_t> places;
  for (size_t i = 0; i < steps.size(); ++i)
    if (steps[i] == name) places.push_back(i);
  return places;
}

TEST(EarlyUpdates, PassStepsThatHaveNothingToDoWithThem) {
  auto steps = steps_of(training([](LinearWorld&, const Tensor& rows) { return exp(rows * 0.0); }));
  EXPECT_EQ(count_of(steps, "linear_sgd_update"), 2);
  EXPECT_LT(places_of(steps, "linear_sgd_update").back(), places_of(steps, "pointwise_chain").back());
}

TEST(EarlyUpdates, StayBehindReadersOfTheParameters) {
  auto steps = steps_of(training([](LinearWorld& world, const Tensor&) { return exp(world.w * 0.0); }));
  const auto updates = places_of(steps, "linear_sgd_update");
  ASSERT_EQ(updates.size(), 2u);
  const size_t reader = places_of(steps, "pointwise_chain").back();
  EXPECT_LT(updates[0], reader);  // of the other layer
  EXPECT_EQ(updates[1], reader + 1);
}

TEST(EarlyUpdates, StayBehindWritersOfTheParameters) {
  steps_of(training([](LinearWorld& world, const Tensor&) {
    copy_into(world.v.detach(), world.v.detach() * 2.0);
    return world.v + 0.0;
  }));
}

/// A failing label takes the whole step back, though it comes between the gradients and the update.
TEST(EarlyUpdates, StayBehindWhatMayFail) {
  LinearWorld world;
  auto step = compile(
      [&](Tensor rows, Tensor labels) {
        perceptron(world, rows);
        NoGrad no_grad;
        Tensor other = cross_entropy(rows, labels);
        world.sgd->step();
        return other;
      },
      kDeclared);
  auto labels = [](int64_t value) { return Tensor::from(std::vector<int64_t>(6, value), {6}); };
  step(world.rows, labels(0)), step(world.rows, labels(1));
  auto steps = names_of_steps(*step.programs()[0].program);
  ASSERT_EQ(count_of(steps, "linear_sgd_update"), 2);
  EXPECT_GT(places_of(steps, "linear_sgd_update")[0], places_of(steps, "cross_entropy")[0]);
  auto w = world.w.to_doubles(), v = world.v.to_doubles();
  EXPECT_THROW(step(world.rows, labels(12)), ValueError);
  EXPECT_EQ(world.w.to_doubles(), w);
  EXPECT_EQ(world.v.to_doubles(), v);
  EXPECT_EQ(world.sgd->step_count(), 2);
}

}  // namespace
}  // namespace treadle
