/// Functions that take a gradient, use it in a loss, and take the loss's: eager and compiled.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/random_tensor.h"
#include "treadle/compile/compile.h"
#include "treadle/graph/autograd.h"
#include "treadle/models/model.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

/// Σ |dloss/dx|² as part of the loss, by which its training changes every parameter.
Tensor penalised_loss(const Module& model, const Tensor& images, const Tensor& labels) {
  Tensor x = images.detach().set_requires_grad();
  const Tensor loss = cross_entropy(const_cast<Module&>(model)(x), labels);
  const Tensor slope = grad({loss}, {x}, {.create_graph = true})[0];
  return loss + sum(slope * slope) * 10.0;
}

class GradientPenalty : public testing::TestWithParam<const char*> {};

/// Σ direction·tensor, and tensor += distance·direction, for all of them.
double along(const std::vector<Tensor>& directions, const std::vector<Tensor>& tensors) {
  double total = 0;
  for (size_t i = 0; i < tensors.size(); ++i) total += sum(directions[i] * tensors[i]).item();
  return total;
}

void move_along(const std::vector<Tensor>& directions, const std::vector<Tensor>& tensors, double distance) {
  const NoGrad no_grad;
  for (size_t i = 0; i < tensors.size(); ++i) copy_into(tensors[i], tensors[i] + directions[i] * distance);
}

/// Eager gradients are what the loss changes by along a direction; those that a compiled step leaves are the
/// same, fused and not.
TEST_P(GradientPenalty, TrainsEagerAndCompiled) {
  const ModelInfo& info = model_info(GetParam());
  auto model = make_model(GetParam(), 7);
  model->to(DType::f64);
  Shape shape{2};
  for (int64_t extent : info.input) shape.push_back(extent);
  const Tensor x = random_tensor(shape, 5, kCpu, DType::f64),
               labels = Tensor::from(std::vector<int64_t>{1, 0}, {2});
  auto gradients = [&](auto& step) {
    for (Tensor p : model->parameters()) p.set_grad({});
    step(x, labels);
    std::vector<Tensor> found;
    for (const Tensor& p : model->parameters()) found.push_back(p.grad());
    return found;
  };
  auto train = [&](const Tensor& images, const Tensor& of_images) {
    const Tensor loss = penalised_loss(*model, images, of_images);
    loss.backward();
    return loss;
  };
  const auto wanted = gradients(train);
  const auto parameters = model->parameters();
  std::vector<Tensor> directions;
  for (const Tensor& p : parameters)
    directions.push_back(random_tensor(p.shape(), 50 + directions.size(), kCpu, DType::f64));
  auto loss_at = [&](double distance) {
    move_along(directions, parameters, distance);
    const double loss = penalised_loss(*model, x, labels).item();
    move_along(directions, parameters, -distance);
    return loss;
  };
  const double slope = along(directions, wanted);
  // A penalty jumps where a ReLU opens or closes, so the step is short: rounding is then about
  // 2^-52·loss/step.
  EXPECT_NEAR((loss_at(1e-8) - loss_at(-1e-8)) / 2e-8, slope, 1e-5 * (std::fabs(slope) + 1));
  double largest = 0;
  for (const Tensor& gradient : wanted)
    for (double value : gradient.to_doubles()) largest = std::max(largest, std::fabs(value));
  for (bool fuse : {false, true}) {
    auto compiled =
        compile([&](Tensor a, Tensor b) { return train(a, b); }, {.measure = false, .fuse = fuse});
    for (int call = 0; call < 2; ++call) {
      const auto found = gradients(compiled);
      for (size_t i = 0; i < wanted.size(); ++i) {
        const auto a = wanted[i].to_doubles(), b = found[i].to_doubles();
        for (size_t e = 0; e < a.size(); ++e)
          ASSERT_NEAR(a[e], b[e], 1e-10 * largest) << i << ", fused: " << fuse;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GradientPenalty, testing::Values("mlp", "lenet5", "mnist_resnet"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace treadle
