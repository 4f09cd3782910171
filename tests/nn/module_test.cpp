/// Modules: names, counts, state, summaries.
#include "treadle/nn/module.h"

#include <gtest/gtest.h>

#include <cmath>

#include "treadle/core/error.h"
#include "treadle/models/model.h"
#include "treadle/nn/activation.h"
#include "treadle/nn/flatten.h"
#include "treadle/nn/linear.h"
#include "treadle/nn/sequential.h"
#include "treadle/nn/summary.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/optim/sgd/sgd.h"

namespace treadle {
namespace {

std::vector<std::string> names_of(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> names;
  for (auto& [name, tensor] : tensors) names.push_back(name);
  return names;
}

TEST(Module, NamesFollowPyTorch) {
  EXPECT_EQ(names_of(make_model("fashion_cnn")->state_dict()),
            (std::vector<std::string>{"conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias",
                                      "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}));
  Sequential layers(
      {std::make_shared<Linear>(4, 3), std::make_shared<ReLU>(), std::make_shared<Linear>(3, 2, false)});
  EXPECT_EQ(names_of(layers.state_dict()), (std::vector<std::string>{"0.weight", "0.bias", "2.weight"}));
}

/// Parts that are put in, replaced and taken out from outside.
struct Open final : Module {
  using Module::register_parameter, Module::remove, Module::replace_buffer, Module::replace_module,
      Module::replace_parameter;
  std::string describe() const override { return "Open"; }
};

TEST(Module, PartsAreReplacedInTheirPlaces) {
  Open module;
  module.replace_module("a", std::make_shared<Linear>(2, 3));
  module.replace_module("b", std::make_shared<Linear>(3, 3));
  module.replace_module("a", std::make_shared<Linear>(2, 3, false));
  for (const char* name : {"p", "q", "p"}) module.replace_parameter(name, rand({2}));
  for (const char* name : {"r", "s", "r"}) module.replace_buffer(name, rand({2}));
  EXPECT_EQ(names_of(module.named_parameters()),
            (std::vector<std::string>{"p", "q", "a.weight", "b.weight", "b.bias"}));
  EXPECT_EQ(names_of(module.named_buffers()), (std::vector<std::string>{"r", "s"}));
  EXPECT_TRUE(module.parameters()[0].requires_grad());
}

TEST(Module, PartsAreTakenOut) {
  Open module;
  module.replace_module("a", std::make_shared<Linear>(2, 3));
  module.replace_parameter("p", rand({2}));
  module.replace_buffer("r", rand({2}));
  for (const char* name : {"a", "p", "r"}) {
    EXPECT_TRUE(module.remove(name)) << name;
    EXPECT_FALSE(module.remove(name)) << name;
  }
  EXPECT_TRUE(module.state_dict().empty());
}

TEST(Module, WhatCannotTakeThePlaceLeavesWhatIsThere) {
  Open module;
  module.replace_parameter("p", rand({2}));
  module.replace_parameter("q", rand({2}));
  module.replace_buffer("r", rand({2}));
  EXPECT_THROW(module.replace_parameter("p", Tensor()), ValueError);
  EXPECT_THROW(module.replace_parameter("p", Tensor::zeros({3}, DType::i64)), DTypeError);
  EXPECT_THROW(module.replace_parameter("r", rand({2})), ValueError);
  EXPECT_THROW(module.replace_module("p", std::make_shared<Linear>(2, 3)), ValueError);
  EXPECT_THROW(module.replace_module("m", nullptr), ValueError);
  EXPECT_EQ(names_of(module.state_dict()), (std::vector<std::string>{"p", "q", "r"}));
}

/// The first and the last layer are one.
std::shared_ptr<Sequential> tied_layers() {
  auto shared = std::make_shared<Linear>(3, 3);
  return std::shared_ptr<Sequential>(
      new Sequential({shared, std::make_shared<ReLU>(), std::make_shared<Linear>(3, 3, false), shared}));
}

TEST(Module, RegisteredTwiceIsCountedOnceAndSavedUnderBothNames) {
  auto layers = tied_layers();
  EXPECT_EQ(names_of(layers->named_parameters()),
            (std::vector<std::string>{"0.weight", "0.bias", "2.weight"}));
  EXPECT_EQ(layers->parameter_count(), 9 + 3 + 9);
  EXPECT_EQ(names_of(layers->state_dict()),
            (std::vector<std::string>{"0.weight", "0.bias", "2.weight", "3.weight", "3.bias"}));
}

TEST(Module, RegisteredTwiceIsUpdatedOnceAStep) {
  auto layers = tied_layers();
  Sgd sgd(layers->named_parameters(), 0.5);
  const auto before = layers->parameters()[0].to_vector<float>();
  sum((*layers)(rand({2, 3}))).backward();
  const auto slope = layers->parameters()[0].grad().to_vector<float>();
  sgd.step();
  const auto after = layers->parameters()[0].to_vector<float>();
  for (size_t i = 0; i < before.size(); ++i) EXPECT_FLOAT_EQ(after[i], before[i] - 0.5f * slope[i]);
}

TEST(Module, RegisteredTwiceIsLoadedByEitherName) {
  auto layers = tied_layers(), other = tied_layers();
  auto values = [](const Module& module) { return module.state_dict()[3].tensor.to_vector<float>(); };
  layers->load_state_dict(other->state_dict());
  EXPECT_EQ(values(*layers), values(*other));
  auto later_names = other->state_dict();
  later_names.erase(later_names.begin(), later_names.begin() + 2);
  layers = tied_layers();
  layers->load_state_dict(later_names);
  EXPECT_EQ(values(*layers), values(*other));
  auto unequal = other->state_dict();
  unequal[3].tensor = unequal[3].tensor.detach() + 1.0;
  EXPECT_THROW(layers->load_state_dict(unequal), ValueError);
  auto none = other->state_dict();
  none.erase(none.begin() + 3), none.erase(none.begin());
  EXPECT_THROW(layers->load_state_dict(none), ValueError);
  unequal[3].tensor = {};
  EXPECT_THROW(layers->load_state_dict(unequal), ValueError);
  EXPECT_EQ(values(*layers), values(*other));
}

/// A module whose parts the test registers.
class Parts final : public Module {
 public:
  std::string describe() const override { return "Parts"; }
  using Module::register_buffer;
  using Module::register_module;
  using Module::register_parameter;

 protected:
  Tensor forward(const Tensor& x) override { return x; }
};

TEST(Module, RefusesPartsThatItCannotName) {
  auto parts = std::make_shared<Parts>(), child = std::make_shared<Parts>();
  const Tensor x = Tensor::zeros({2});
  parts->register_parameter("weight", Tensor::zeros({2}));
  EXPECT_THROW(parts->register_parameter("weight", x), ValueError);
  EXPECT_THROW(parts->register_buffer("weight", x), ValueError);
  EXPECT_THROW(parts->register_module("weight", child), ValueError);
  EXPECT_THROW(parts->register_parameter("", x), ValueError);
  EXPECT_THROW(parts->register_buffer("a.b", x), ValueError);
  EXPECT_THROW(parts->register_parameter("undefined", Tensor()), ValueError);
  EXPECT_THROW(parts->register_buffer("undefined", Tensor()), ValueError);
  EXPECT_THROW(parts->register_parameter("whole", Tensor::zeros({2}, DType::i64)), DTypeError);
  EXPECT_THROW(parts->register_module("null", std::shared_ptr<Parts>()), ValueError);
  EXPECT_THROW(parts->register_module("itself", parts), ValueError);
  parts->register_module("child", child);
  EXPECT_THROW(child->register_module("parent", parts), ValueError);
  EXPECT_EQ(names_of(parts->state_dict()), std::vector<std::string>{"weight"});
}

TEST(Module, ParameterCountsOfTheModels) {
  EXPECT_EQ(make_model("mlp")->parameter_count(), 101'770);
  EXPECT_EQ(make_model("lenet5")->parameter_count(), 61'706);
  EXPECT_EQ(make_model("fashion_cnn")->parameter_count(), 896'522);
}

TEST(Module, SeedDecidesTheInitialisation) {
  auto values = [](uint64_t seed) { return make_model("mlp", seed)->parameters()[0].to_vector<float>(); };
  EXPECT_EQ(values(1), values(1));
  EXPECT_NE(values(1), values(2));
  float bound = 1 / std::sqrt(784.0f), largest = 0;
  for (float value : values(1)) largest = std::max(largest, std::fabs(value));
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.99f * bound);
}

/// The weight in memory as [in][out], with the numbers that a row-major one draws.
TEST(Linear, WeightLiesInputByInput) {
  Generator generator(5), same(5);
  Linear layer(7, 3, true, generator);
  EXPECT_EQ(layer.weight.shape(), (Shape{3, 7}));
  EXPECT_EQ(layer.weight.strides(), (Strides{1, 3}));
  Tensor row_major = Tensor::empty({3, 7});
  uniform_(row_major, -1 / std::sqrt(7.0), 1 / std::sqrt(7.0), same);
  EXPECT_EQ(layer.weight.to_vector<float>(), row_major.to_vector<float>());
}

TEST(Linear, WeightKeepsItsLayout) {
  Linear layer(7, 3);
  const Strides input_by_input{1, 3};
  const Tensor values = rand({3, 7});
  layer.load_state_dict({{"weight", values}, {"bias", rand({3})}});
  EXPECT_EQ(layer.weight.to_vector<float>(), values.to_vector<float>());
  EXPECT_EQ(layer.weight.strides(), input_by_input);
  for (Device device : {kSimt, kCpu}) {
    layer.to(device);
    EXPECT_EQ(layer.weight.strides(), input_by_input);
    for (int pass = 0; pass < 2; ++pass) {  // the second accumulates
      sum(layer(to(rand({2, 7}), device))).backward();
      EXPECT_EQ(layer.weight.grad().strides(), input_by_input);
    }
  }
  EXPECT_EQ(layer.weight.to_vector<float>(), values.to_vector<float>());
}

TEST(Module, LoadsOnlyAStateThatFits) {
  auto model = make_model("mlp", 1), other = make_model("mlp", 2);
  auto before = model->parameters()[0].to_vector<float>();
  auto state = other->state_dict();
  state.back().tensor = Tensor::zeros({11});
  EXPECT_THROW(model->load_state_dict(state), ShapeError);
  state.pop_back();
  EXPECT_THROW(model->load_state_dict(state), ValueError);
  EXPECT_EQ(model->parameters()[0].to_vector<float>(), before);
  state = other->state_dict();
  state.push_back({"fc9.weight", Tensor::zeros({1})});
  EXPECT_THROW(model->load_state_dict(state), ValueError);
  model->load_state_dict(other->state_dict());
  EXPECT_EQ(model->parameters()[0].to_vector<float>(), other->parameters()[0].to_vector<float>());
}

TEST(Module, MovesToADeviceAndBack) {
  auto model = make_model("mlp");
  Tensor weight = model->parameters()[0];
  model->to(kSimt);
  EXPECT_EQ(weight.device(), kSimt);
  EXPECT_TRUE(weight.requires_grad());
  model->to(kCpu);
  EXPECT_EQ(weight.device(), kCpu);
}

TEST(Summary, CountsFashionCnn) {
  auto summary = summarize(*make_model("fashion_cnn"), {1, 1, 28, 28});
  EXPECT_EQ(summary.parameters, 896'522);
  // 26²·64·9 + 11²·128·576 + 3200·256 + 256·10
  EXPECT_EQ(summary.multiply_adds, 389'376 + 8'921'088 + 819'200 + 2'560);
  ASSERT_EQ(summary.layers.size(), 11u);
  EXPECT_EQ(summary.layers[1].name, "conv1");
  EXPECT_EQ(summary.layers[1].outputs, (std::vector{Shape{1, 64, 26, 26}}));
  EXPECT_EQ(summary.layers[0].outputs, (std::vector{Shape{1, 10}}));
}

}  // namespace
}  // namespace treadle
