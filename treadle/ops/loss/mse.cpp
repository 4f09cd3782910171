#include "treadle/ops/loss/mse.h"

#include <algorithm>

#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/loss/loss_options.h"
#include "treadle/ops/loss/loss_shape.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle {
namespace {

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  require_same_dtype("mse", inputs);
  require<ShapeError>(inputs[0].shape == inputs[1].shape, "mse: x has shape {}, target {}", inputs[0].shape,
                      inputs[1].shape);
  return {TensorSpec::of(loss_shape("mse", inputs[0].shape, attributes.as<LossOptions>()), inputs[0].dtype)};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  ReferenceTensor terms = inputs[0];
  for (size_t i = 0; i < terms.values.size(); ++i) {
    const double difference = terms.values[i] - inputs[1].values[i];
    terms.values[i] = difference * difference;
  }
  return {reduce_loss(terms, attributes.as<LossOptions>())};
}

/// dx = 2·(x - target)·dloss, divided by n for the mean; dtarget = -dx.
std::vector<Tensor> gradient(const GradientContext& context) {
  const double count = double(context.input_spec(0).shape.numel());
  const double factor = 2 / context.options<LossOptions>().divisor(int64_t(count));
  Tensor dx = sub(context.input(0), context.input(1)) * (context.upstream() * factor);
  return {context.needs(0) ? dx : Tensor(), context.needs(1) ? neg(dx) : Tensor()};
}

/// A term is at most 4·largest², and largest is 2 in the cases; each term counts where they are added.
ErrorModel error(Specs inputs, const Attributes& attributes) {
  const double count = double(inputs[0].shape.numel());
  const std::string& reduction = attributes.as<LossOptions>().reduction;
  const double roundings = reduction == "none" ? 3 : count + 3;
  return {ErrorModel::largest_input, 8 * roundings * (reduction == "sum" ? std::max(1., count) : 1)};
}

std::vector<TestCase> cases() {
  auto one = [](const char* label, Shape shape, const char* reduction,
                TestLayout layout = TestLayout::contiguous) {
    return TestCase{label, {{shape, {}, layout}, {shape}}, Attributes::of(LossOptions{reduction})};
  };
  return {one("mean", {9, 15}, "mean"),
          one("sum", {5, 3}, "sum"),
          one("none", {7, 5}, "none"),
          one("long", {4099}, "mean"),
          one("transposed", {5, 7, 3}, "mean", TestLayout::transposed),
          one("none, transposed", {5, 7, 3}, "none", TestLayout::transposed),
          one("channels_last", {2, 3, 4, 5}, "mean", TestLayout::channels_last),
          one("one", {1}, "mean"),
          one("rank 0", {}, "mean"),
          one("empty sum", {0, 3}, "sum"),
          one("empty none", {0, 3}, "none")};
}

std::vector<RefusedCall> refused_calls() {
  const TestInput x{{2, 3}};
  return {refuses<ValueError>({x, x}, {"''"}, Attributes::of(LossOptions{""})),
          refuses<ShapeError>({x, {{3}}}, {"[2, 3]", "[3]"}),
          refuses<DTypeError>({x, {.shape = x.shape, .dtype = {DType::f64}}}, {"f32", "f64"})};
}

}  // namespace

namespace ops {

void register_mse(Registry& registry) {
  registry.add({.name = "mse",
                .summary = "loss = Σ (x - target)² / n",
                .options = &schema_of<LossOptions>(),
                .infer = infer,
                .reference = reference,
                .gradient = gradient,
                .saves = {{Saved::input, 0}, {Saved::input, 1}},
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .operations = for_each_of_input(0, 3)});
}

}  // namespace ops

Tensor mse(const Tensor& x, const Tensor& target, const std::string& reduction) {
  static const Op& op = op_named("mse");
  return apply(op, {x, target}, Attributes::of(LossOptions{reduction}))[0];
}

}  // namespace treadle
