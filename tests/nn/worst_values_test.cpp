/// The worst values of every parameter of nn/.
#include <limits>

#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/nn/activation.h"
#include "treadle/nn/conv2d.h"
#include "treadle/nn/flatten.h"
#include "treadle/nn/init.h"
#include "treadle/nn/linear.h"
#include "treadle/nn/pooling.h"
#include "treadle/nn/sequential.h"
#include "treadle/nn/summary.h"

namespace treadle {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

/// A module that registers what a test says.
class Free final : public Module {
 public:
  using Module::register_buffer, Module::register_module, Module::register_parameter;
  std::string describe() const override { return "Free"; }

 protected:
  Tensor forward(const Tensor& x) override { return x; }
};

Tensor one() { return Tensor::from({1}, {1}); }

TEST(WorstValues, Registration) {
  Free module;
  module.register_parameter("weight", one());
  module.register_buffer("count", one());
  module.register_module("child", std::make_shared<ReLU>());
  std::vector<Refused> table{
      refused<ValueError>("undefined parameter", {"'bias'"}, [&] { module.register_parameter("bias", {}); }),
      refused<ValueError>("undefined buffer", {"'mean'"}, [&] { module.register_buffer("mean", {}); }),
      refused<ValueError>("no module", {"'next'"},
                          [&] { module.register_module("next", std::shared_ptr<Free>()); }),
      refused<DTypeError>("integers", {"i64"},
                          [&] { module.register_parameter("index", Tensor::zeros({1}, DType::i64)); }),
  };
  for (const char* name : {"", "a.b", "weight", "count", "child"}) {
    table.push_back(
        refused<ValueError>("parameter", {name}, [&, name] { module.register_parameter(name, one()); }));
    table.push_back(
        refused<ValueError>("buffer", {name}, [&, name] { module.register_buffer(name, one()); }));
    table.push_back(refused<ValueError>(
        "module", {name}, [&, name] { module.register_module(name, std::make_shared<ReLU>()); }));
  }
  expect_refused(table);
  EXPECT_EQ(module.state_dict().size(), 2u);
}

TEST(WorstValues, Layers) {
  expect_refused({
      refused<ShapeError>("inputs", {"Linear", "-1", "3"}, [] { Linear(-1, 3); }),
      refused<ShapeError>("outputs", {"Linear", "3", "-1"}, [] { Linear(3, -1); }),
      refused<ShapeError>("too many", {"too many"}, [] { Linear(kMost, kMost); }),
      refused<ShapeError>("channels", {"Conv2d", "0 input"}, [] { Conv2d(0, 4, 3); }),
      refused<ShapeError>("filters", {"Conv2d", "-4 output"}, [] { Conv2d(1, -4, 3); }),
      refused<ShapeError>("kernel", {"Conv2d", "[0, 3]"},
                          [] {
                            Conv2d(1, 4, {0, 3});
                          }),
      refused<ShapeError>("groups", {"3 groups"}, [] { Conv2d(4, 4, 3, {.groups = 3}); }),
      refused<ShapeError>("groups 0", {"0 groups"}, [] { Conv2d(4, 4, 3, {.groups = 0}); }),
      refused<ShapeError>("stride", {"stride [0, 0]"},
                          [] {
                            Conv2d(1, 4, 3, {.stride = 0})(Tensor::zeros({1, 1, 5, 5}));
                          }),
      refused<ShapeError>("window", {"[9, 9]", "[1, 1, 5, 5]"},
                          [] {
                            MaxPool2d(9)(Tensor::zeros({1, 1, 5, 5}));
                          }),
      refused<ShapeError>("window 0", {"[0, 0]"},
                          [] {
                            AvgPool2d(0)(Tensor::zeros({1, 1, 5, 5}));
                          }),
      refused<ValueError>("no layer", {"'1'"},
                          [] {
                            Sequential({std::make_shared<ReLU>(), nullptr});
                          }),
      refused<ValueError>("twice", {"'a'"},
                          [] {
                            std::vector<std::pair<std::string, std::shared_ptr<Module>>> layers{
                                {"a", std::make_shared<ReLU>()}, {"a", std::make_shared<ReLU>()}};
                            Sequential{layers};
                          }),
      refused<ValueError>("undefined input", {"relu", "undefined"}, [] { ReLU()(Tensor()); }),
      refused<ValueError>("undefined into Linear", {"linear", "undefined"}, [] { Linear(2, 3)(Tensor()); }),
      refused<ValueError>("undefined into Flatten", {"flatten", "undefined"}, [] { Flatten()(Tensor()); }),
      refused<ShapeError>("other features", {"[4, 5]", "[3, 2]"},
                          [] {
                            Linear(2, 3)(Tensor::zeros({4, 5}));
                          }),
      refused<DeviceAbsent>("device", {"cpu:3"},
                            [] {
                              Linear(2, 3).to(Device{DeviceKind::cpu, 3});
                            }),
      refused<ShapeError>("summary", {"negative"},
                          [] {
                            Linear layer(2, 3);
                            summarize(layer, {-1, 2});
                          }),
      refused<ValueError>("initialised", {"undefined"},
                          [] { init_uniform_fan_in(Tensor(), 3, default_generator()); }),
  });
  EXPECT_EQ(Linear(0, 3)(Tensor::zeros({2, 0})).to_vector<float>(),
            std::vector<float>(6, 0));  // as PyTorch: bias 0
  Sequential none(std::initializer_list<std::shared_ptr<Module>>{});
  EXPECT_EQ(none(one()).item(), 1);
}

TEST(WorstValues, States) {
  Linear layer(2, 1);
  const Tensor weight = Tensor::from({1, 2}, {1, 2}), bias = Tensor::from({3}, {1});
  const std::vector<float> before = layer.weight.to_vector<float>();
  expect_refused({
      refused<ValueError>("missing", {"'bias'"},
                          [&] {
                            layer.load_state_dict({{"weight", weight}});
                          }),
      refused<ValueError>("too many", {"'more'"},
                          [&] {
                            layer.load_state_dict({{"weight", weight}, {"bias", bias}, {"more", bias}});
                          }),
      refused<ValueError>("twice", {"'bias'", "twice"},
                          [&] {
                            layer.load_state_dict({{"weight", weight}, {"bias", bias}, {"bias", bias}});
                          }),
      refused<ValueError>("undefined", {"'bias'", "undefined"},
                          [&] {
                            layer.load_state_dict({{"weight", weight}, {"bias", {}}});
                          }),
      refused<ShapeError>("shape", {"'bias'", "[1, 2]", "[1]"},
                          [&] {
                            layer.load_state_dict({{"weight", weight}, {"bias", weight}});
                          }),
      refused<DTypeError>(
          "dtype", {"'bias'", "i64", "f32"},
          [&] {
            layer.load_state_dict({{"weight", weight}, {"bias", Tensor::zeros({1}, DType::i64)}});
          }),
  });
  EXPECT_EQ(layer.weight.to_vector<float>(), before);
}

}  // namespace
}  // namespace treadle
