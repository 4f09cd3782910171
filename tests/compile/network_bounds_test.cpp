#include "tests/compile/network_bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "treadle/graph/autograd.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/settings.h"
#include "treadle/models/model.h"
#include "treadle/ops/conv2d/conv2d.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"

namespace treadle {
namespace {

/// Variants that a test has named are for what it tests.
struct PlainSettings {
  Settings before = std::exchange(settings(), {});
  ~PlainSettings() { settings() = before; }
};

constexpr double kRoundoff = 0x1p-24;  ///< of f32
constexpr int64_t kWindow = 2;

/// The relative rounding of a sum of so many products.
double of_sum(int64_t terms) { return 8 * std::sqrt(double(terms)) * kRoundoff; }

Tensor tensor(const std::vector<double>& values, const Shape& shape) { return Tensor::from(values, shape); }

std::vector<double> absolute(std::vector<double> values) {
  for (double& value : values) value = std::fabs(value);
  return values;
}

std::vector<double> sum_of(std::vector<double> a, const std::vector<double>& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

Tensor product(const NetworkStage& stage, const Tensor& x, const Tensor& w) {
  if (!stage.convolves) return linear(flatten(x), w);
  Conv2dOptions options;
  options.padding = stage.padding;
  return conv2d(x, w, {}, options);
}

/// The elements that share a window, or one alone; those at the border that fill no window belong to none.
std::vector<std::vector<int64_t>> windows(const NetworkStage& stage, const Shape& shape) {
  std::vector<std::vector<int64_t>> list;
  if (!stage.pools) {
    for (int64_t i = 0; i < shape.numel(); ++i) list.push_back({i});
    return list;
  }
  const int64_t height = shape[2], width = shape[3];
  for (int64_t plane = 0; plane < shape[0] * shape[1]; ++plane)
    for (int64_t p = 0; p < height / kWindow; ++p)
      for (int64_t q = 0; q < width / kWindow; ++q) {
        const int64_t first = (plane * height + p * kWindow) * width + q * kWindow;
        list.push_back({first, first + 1, first + width, first + width + 1});
      }
  return list;
}

Shape shape_behind(const NetworkStage& stage, const Shape& shape) {
  return stage.pools ? Shape{shape[0], shape[1], shape[2] / kWindow, shape[3] / kWindow} : shape;
}

/// Which element of a window goes on, and which others may.
struct Choice {
  int64_t largest = 0;
  double least = -INFINITY, most = -INFINITY;  ///< between which the largest lies
  std::vector<int64_t> candidates;
};

Choice choice_in(const std::vector<int64_t>& window, const Bounded& z) {
  Choice choice;
  choice.largest = window[0];
  for (int64_t i : window) {
    if (z.values[i] > z.values[choice.largest]) choice.largest = i;
    choice.least = std::max(choice.least, z.values[i] - z.errors[i]);
    choice.most = std::max(choice.most, z.values[i] + z.errors[i]);
  }
  for (int64_t i : window)
    if (z.values[i] + z.errors[i] >= choice.least) choice.candidates.push_back(i);
  return choice;
}

}  // namespace

double NetworkBounds::rounding(const NetworkStage& stage, int64_t terms) const {
  return (stage.convolves ? growth_ : 1) * of_sum(terms);
}

void NetworkBounds::evaluate(const std::vector<NamedTensor>& parameters, const Tensor& images) {
  const PlainSettings plain;
  parameters_.clear(), layers_.clear(), sums_.clear();
  for (auto& [name, parameter] : parameters) parameters_[name] = cast(parameter.detach(), DType::f64);
  Bounded x{images.to_doubles(), std::vector<double>(size_t(images.numel()))};
  Shape shape = images.shape();
  for (const NetworkStage& stage : stages_) {
    run_layer(stage, x, shape);
    shape = shape_behind(stage, layers_.back().z[0].shape());
    x = behind(stage, layers_.back(), sums_.back());
  }
  logits_ = x;
}

void NetworkBounds::analyse(const std::vector<NamedTensor>& parameters, const Tensor& images,
                            const Tensor& labels) {
  evaluate(parameters, images);
  const PlainSettings plain;
  Bounded dy = loss_gradient(logits_, labels);
  for (size_t i = stages_.size(); i-- > 0;) {
    Bounded dz = at_layer(stages_[i], layers_[i], sums_[i], dy);
    dy = gradients_of(stages_[i], layers_[i], dz);
  }
}

void NetworkBounds::run_layer(const NetworkStage& stage, const Bounded& x, const Shape& shape) {
  Layer layer;
  const Tensor w = parameters_.at(stage.name + ".weight");
  const auto b = parameters_.at(stage.name + ".bias").to_doubles(), magnitude = absolute(x.values);
  Tensor inputs[] = {tensor(x.values, shape), tensor(magnitude, shape),
                     tensor(sum_of(magnitude, x.errors), shape)};
  for (int k = 0; k < 3; ++k) {
    layer.x[k] = inputs[k].set_requires_grad();
    layer.w[k] = (k == 0 ? w * 1.0 : abs(w)).detach().set_requires_grad();
    layer.z[k] = product(stage, layer.x[k], layer.w[k]);
  }
  Bounded z{layer.z[0].to_doubles(), layer.z[2].to_doubles()};
  const auto products = layer.z[1].to_doubles();
  const double factor = rounding(stage, w.numel() / w.shape()[0] + 1);
  const int64_t places = int64_t(z.values.size()) / shape[0] / int64_t(b.size());
  for (size_t i = 0; i < z.values.size(); ++i) {
    const double bias = b[i / size_t(places) % b.size()], all = z.errors[i] + std::fabs(bias);
    z.values[i] += bias;
    z.errors[i] += factor * all - products[i];
  }
  layers_.push_back(layer), sums_.push_back(z);
}

Bounded NetworkBounds::behind(const NetworkStage& stage, const Layer& layer, const Bounded& z) {
  Bounded y;
  for (const auto& window : windows(stage, layer.z[0].shape())) {
    const Choice choice = choice_in(window, z);
    const double value = z.values[choice.largest];
    double error = 0;
    for (int64_t i : choice.candidates) error = std::max(error, z.errors[i]);
    const bool closed = stage.rectifies && choice.most <= 0;
    y.values.push_back(stage.rectifies ? std::max(value, 0.0) : value);
    y.errors.push_back(closed ? 0 : error);
  }
  return y;
}

Bounded NetworkBounds::at_layer(const NetworkStage& stage, const Layer& layer, const Bounded& z,
                                const Bounded& dy) const {
  Bounded dz{std::vector<double>(z.values.size()), std::vector<double>(z.values.size())};
  size_t next = 0;
  for (const auto& window : windows(stage, layer.z[0].shape())) {
    const Choice choice = choice_in(window, z);
    const size_t place = next++;
    if (stage.rectifies && choice.most <= 0) continue;
    const bool open = !stage.rectifies || z.values[choice.largest] > 0;
    const bool certain = choice.candidates.size() == 1 && (!stage.rectifies || choice.least > 0);
    if (open) dz.values[choice.largest] = dy.values[place];
    for (int64_t i : choice.candidates)
      dz.errors[i] = dy.errors[place] + (certain ? 0 : std::fabs(dy.values[place]));
  }
  return dz;
}

/// The softmax's errors are relative ones: a logit that is off by e changes it by a factor of e^2e at most.
/// Exponentials round by two units of the result and one of the argument.
Bounded NetworkBounds::loss_gradient(const Bounded& logits, const Tensor& labels) {
  const int64_t samples = labels.numel(), classes = int64_t(logits.values.size()) / samples;
  Bounded dy;
  loss_ = loss_error_ = 0;
  for (int64_t n = 0; n < samples; ++n) {
    const double *z = logits.values.data() + n * classes, *e = logits.errors.data() + n * classes;
    const double largest = *std::max_element(z, z + classes), error = *std::max_element(e, e + classes);
    double sum = 0, size = 0;
    for (int64_t k = 0; k < classes; ++k)
      sum += std::exp(z[k] - largest), size = std::max(size, std::fabs(z[k]));
    const int64_t label = labels.data<int64_t>()[n];
    const double loss = largest + std::log(sum) - z[label];
    loss_ += loss / double(samples);
    loss_error_ += (2 * error + of_sum(classes + samples) * (2 * size + loss + 1)) / double(samples);
    for (int64_t k = 0; k < classes; ++k) {
      const double share = std::exp(z[k] - largest) / sum;
      dy.values.push_back((share - (k == label)) / double(samples));
      dy.errors.push_back((share * (std::expm1(2 * error) + of_sum(classes) * (2 * size + 4)) + kRoundoff) /
                          double(samples));
    }
  }
  return dy;
}

/// Stores those of the parameters and returns the input's.
Bounded NetworkBounds::gradients_of(const NetworkStage& stage, Layer& layer, const Bounded& dz) {
  const Shape& shape = layer.z[0].shape();
  const auto magnitude = absolute(dz.values);
  const std::vector<double> upstream[] = {dz.values, magnitude, sum_of(magnitude, dz.errors)};
  for (int k = 0; k < 3; ++k) layer.z[k].backward(tensor(upstream[k], shape));
  auto bounded = [&](const Tensor(&leaves)[3], int64_t terms) {
    Bounded result{leaves[0].grad().to_doubles(), leaves[2].grad().to_doubles()};
    const auto exact = leaves[1].grad().to_doubles();
    for (size_t i = 0; i < exact.size(); ++i) result.errors[i] *= 1 + rounding(stage, terms);
    for (size_t i = 0; i < exact.size(); ++i) result.errors[i] -= exact[i];
    return result;
  };
  const int64_t filters = layer.w[0].shape()[0], places = shape.numel() / filters;
  gradients_[stage.name + ".weight"] = bounded(layer.w, places);
  Bounded db{std::vector<double>(size_t(filters)), std::vector<double>(size_t(filters))};
  for (size_t i = 0; i < dz.values.size(); ++i) {
    const size_t k = i / size_t(places / shape[0]) % size_t(filters);
    db.values[k] += dz.values[i];
    db.errors[k] += dz.errors[i] + rounding(stage, places) * upstream[2][i];
  }
  gradients_[stage.name + ".bias"] = db;
  const int64_t taps = stage.convolves ? layer.w[0].shape()[2] * layer.w[0].shape()[3] : 1;
  return bounded(layer.x, filters * taps);
}

std::vector<NetworkStage> stages_of(const std::string& model) {
  if (model == "mlp") return {{"fc1", false, 0, false, true}, {"fc2", false}};
  if (model == "lenet5")
    return {{"conv1", true, 2, true, true},
            {"conv2", true, 0, true, true},
            {"fc1", false, 0, false, true},
            {"fc2", false, 0, false, true},
            {"fc3", false}};
  return {{"conv1", true, 0, true, true},
          {"conv2", true, 0, true, true},
          {"fc1", false, 0, false, true},
          {"fc2", false}};
}

double largest_growth() {
  double growth = 1;
  for (const Op* op : registry().ops())
    for (const Variant& variant : op->variants)
      if (variant.device == DeviceKind::cpu) growth = std::max(growth, variant.error_growth);
  return growth;
}

void expect_logits(const std::string& model, const Module& module, const Tensor& images,
                   const std::vector<float>& logits) {
  NetworkBounds bounds(stages_of(model), largest_growth());
  bounds.evaluate(module.named_parameters(), images);
  const Bounded& wanted = bounds.logits();
  ASSERT_EQ(logits.size(), wanted.values.size());
  for (size_t i = 0; i < logits.size(); ++i)
    ASSERT_LE(std::fabs(logits[i] - wanted.values[i]), wanted.errors[i]) << "logit " << i;
}

namespace {

TEST(NetworkBounds, HoldEagerCalls) {
  for (const char* name : {"mlp", "lenet5", "fashion_cnn"}) {
    auto model = make_model(name, 3);
    Generator generator(5);
    Tensor images = rand({2, 1, 28, 28}, DType::f32, kCpu, generator) - 0.5;
    Tensor labels = Tensor::from(std::vector<int64_t>{3, 9}, {2});
    NetworkBounds bounds(stages_of(name), 1);
    bounds.analyse(model->named_parameters(), images, labels);
    Tensor loss = cross_entropy((*model)(images), labels);
    loss.backward();
    EXPECT_LE(std::fabs(loss.item() - bounds.loss()), bounds.loss_error()) << name;
    for (auto& [parameter, tensor] : model->named_parameters()) {
      const Bounded& wanted = bounds.gradient(parameter);
      auto got = tensor.grad().to_doubles();
      ASSERT_EQ(got.size(), wanted.values.size()) << name << ": " << parameter;
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_LE(std::fabs(got[i] - wanted.values[i]), wanted.errors[i])
            << name << ": " << parameter << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace treadle
