/// Models, layers and optimisers against numbers computed with PyTorch.
#include <gtest/gtest.h>

#include "tests/goldens/golden_numbers.h"
#include "treadle/compile/compile.h"
#include "treadle/graph/autograd.h"
#include "treadle/models/model.h"
#include "treadle/nn/layer_norm.h"
#include "treadle/ops/conv2d/conv2d.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/pool2d/avg_pool2d.h"
#include "treadle/ops/pool2d/max_pool2d.h"
#include "treadle/ops/softmax/softmax.h"
#include "treadle/optim/schedule.h"
#include "treadle/optim/sgd/sgd.h"

namespace treadle::goldens {
namespace {

/// Compares norm and projections with a record of the file. The exact value is the recorded one minus its
/// deviation.
void expect_measures(const Tensor& tensor, const nlohmann::json& record, double terms,
                     const std::string& what) {
  auto found = measures(tensor);
  double norm = record["norm"].get<double>() - record["norm_deviation"].get<double>();
  double allowed = tolerance(terms, norm);
  EXPECT_NEAR(found[0], norm, allowed) << what << ": norm";
  for (size_t k = 0; k < 4; ++k) {
    double wanted = record["projections"][k].get<double>() - record["projection_deviations"][k].get<double>();
    EXPECT_NEAR(found[k + 1], wanted, allowed) << what << ": projection " << k;
  }
}

TEST(Hash, EqualsTheRecordedNumbers) {
  for (auto& entry : file()["hash"])
    EXPECT_EQ(mix(entry["seed"], entry["index"]), entry["mix"].get<uint32_t>());
}

/// Fan-in of each parameter: its own for weights, that of the weight before it for biases.
void fill_parameters(Module& model) {
  uint32_t number = 0;
  float bound = 0;
  NoGrad no_grad;
  for (auto& [name, parameter] : model.named_parameters()) {
    if (name.ends_with("weight")) bound = float(1 / std::sqrt(double(parameter.numel() / parameter.size(0))));
    copy_into(parameter, signed_tensor(100 + number++, parameter.shape(), bound));
  }
}

class Models : public testing::TestWithParam<std::string> {};

TEST_P(Models, FirstTenLossesAndFirstGradients) {
  constexpr double kTerms = 3200 + 576 + 256;  // the longest chain of sums: fashion_cnn's fc1, conv2, fc2
  const auto& golden = file()["models"][GetParam()];
  auto model = make_model(GetParam());
  EXPECT_EQ(model->parameter_count(), golden["parameters"].get<int64_t>());
  fill_parameters(*model);
  Sgd optimizer(model->named_parameters(), 0.05);
  uint32_t input_seed = golden["input_seed"];
  for (uint32_t step = 0; step < 10; ++step) {
    Tensor loss = cross_entropy((*model)(uniform_tensor(input_seed + step, {16, 1, 28, 28})),
                                label_tensor(2000 + step, 16, 10));
    double wanted =
        golden["losses"]["value"][step].get<double>() - golden["losses"]["deviation"][step].get<double>();
    EXPECT_NEAR(loss.item(), wanted, tolerance(kTerms, wanted)) << "loss of step " << step;
    optimizer.zero_grad();
    loss.backward();
    if (step == 0)
      for (auto& [name, parameter] : model->named_parameters())
        expect_measures(parameter.grad(), golden["gradients"][name], kTerms, name);
    optimizer.step();
  }
}

/// The same in compiled steps: recorded, fused, replayed. Winograd's transforms add a few roundings per sum.
TEST_P(Models, FirstTenLossesCompiled) {
  constexpr double kTerms = 4 * (3200 + 576 + 256);
  const auto& golden = file()["models"][GetParam()];
  auto model = make_model(GetParam());
  fill_parameters(*model);
  Sgd optimizer(model->named_parameters(), 0.05);
  auto step = compile([&](Tensor x, Tensor labels) {
    optimizer.zero_grad();
    Tensor loss = cross_entropy((*model)(x), labels);
    loss.backward();
    optimizer.step();
    return loss;
  });
  uint32_t input_seed = golden["input_seed"];
  for (uint32_t i = 0; i < 10; ++i) {
    Tensor loss = step(uniform_tensor(input_seed + i, {16, 1, 28, 28}), label_tensor(2000 + i, 16, 10));
    double wanted =
        golden["losses"]["value"][i].get<double>() - golden["losses"]["deviation"][i].get<double>();
    EXPECT_NEAR(loss.item(), wanted, tolerance(kTerms, wanted)) << "loss of step " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Models, testing::Values("mlp", "lenet5", "fashion_cnn"),
                         [](const auto& info) { return info.param; });

/// Seeds of layer case c; see make_goldens.py.
struct LayerCase {
  const nlohmann::json& golden;
  uint32_t seed;
  explicit LayerCase(const char* name)
      : golden(file()["layers"][name]), seed(4000 + 10 * golden["case"].get<uint32_t>()) {}

  Shape shape(const char* key) const {
    Shape result;
    for (int64_t extent : golden[key]) result.push_back(extent);
    return result;
  }
  Tensor input() const {
    return signed_tensor(seed, shape("input_shape"), golden["scale"].get<float>()).set_requires_grad();
  }
  Pair pair(const char* key) const { return {golden["attributes"][key][0], golden["attributes"][key][1]}; }
  void check(const Tensor& x, const Tensor& y, double terms) const {
    expect_measures(y, golden["output"], terms, "output");
    y.backward(y.rank() == 0 ? Tensor() : signed_tensor(seed + 3, y.shape()));
    expect_measures(x.grad(), golden["input_gradient"], terms, "input gradient");
  }
};

TEST(Layers, Conv2d) {
  LayerCase layer("conv2d");
  Conv2dOptions options;
  options.stride = layer.pair("stride");
  options.padding = layer.pair("padding");
  options.dilation = layer.pair("dilation");
  options.groups = layer.golden["attributes"]["groups"];
  Shape weight_shape = layer.shape("weight_shape");
  Tensor x = layer.input(), w = signed_tensor(layer.seed + 1, weight_shape).set_requires_grad();
  Tensor b = signed_tensor(layer.seed + 2, {weight_shape[0]}).set_requires_grad();
  layer.check(x, conv2d(x, w, b, options), 64);
  expect_measures(w.grad(), layer.golden["weight_gradient"], 64, "weight gradient");
  expect_measures(b.grad(), layer.golden["bias_gradient"], 64, "bias gradient");
}

TEST(Layers, MaxPool2d) {
  LayerCase layer("max_pool2d");
  MaxPool2dOptions options;
  options.kernel = layer.pair("kernel_size");
  options.stride = layer.pair("stride");
  options.padding = layer.pair("padding");
  Tensor x = layer.input();
  layer.check(x, max_pool2d(x, options), 9);
}

TEST(Layers, AvgPool2d) {
  LayerCase layer("avg_pool2d");
  AvgPool2dOptions options;
  options.kernel = layer.pair("kernel_size");
  options.stride = layer.pair("stride");
  options.padding = layer.pair("padding");
  options.count_include_pad = true;
  Tensor x = layer.input();
  layer.check(x, avg_pool2d(x, options), 9);
}

TEST(Layers, Softmax) {
  LayerCase layer("softmax");
  Tensor x = layer.input();
  layer.check(x, softmax(x, 1), 16);
}

TEST(Layers, LogSoftmax) {
  LayerCase layer("log_softmax");
  Tensor x = layer.input();
  layer.check(x, log_softmax(x, 1), 16);
}

TEST(Layers, CrossEntropy) {
  LayerCase layer("cross_entropy");
  Tensor x = layer.input();
  Tensor loss = cross_entropy(x, label_tensor(layer.seed + 4, 6, 10));
  expect_measures(loss, layer.golden["output"], 16, "output");
  loss.backward();
  expect_measures(x.grad(), layer.golden["input_gradient"], 16, "input gradient");
}

TEST(Layers, LayerNorm) {
  LayerCase layer("layer_norm");
  LayerNorm norm(11, {.epsilon = layer.golden["attributes"]["eps"]});
  {
    NoGrad no_grad;
    copy_into(norm.weight, signed_tensor(layer.seed + 1, {11}));
    copy_into(norm.bias, signed_tensor(layer.seed + 2, {11}));
  }
  Tensor x = layer.input();
  layer.check(x, norm(x), 44);
  expect_measures(norm.weight.grad(), layer.golden["weight_gradient"], 44, "weight gradient");
  expect_measures(norm.bias.grad(), layer.golden["bias_gradient"], 44, "bias gradient");
}

TEST(Schedules, Cosine) {
  const auto& golden = file()["cosine_schedule"];
  Schedule schedule = Schedule::cosine(golden["base"], golden["T_max"]);
  for (size_t t = 0; t < golden["learning_rates"].size(); ++t)
    EXPECT_NEAR(schedule.at(int64_t(t)), golden["learning_rates"][t].get<double>(), 1e-15);
}

}  // namespace
}  // namespace treadle::goldens
