#include <cmath>

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/norm/batch_norm.h"
#include "treadle/ops/norm/channel_steps.h"
#include "treadle/ops/norm/declaration/batch_norm_cases.h"
#include "treadle/ops/norm/normalized_rows.h"
#include "treadle/ops/pointwise/pointwise_layout.h"
#include "treadle/ops/pointwise/relu_gradient.h"

namespace treadle {
namespace {

enum Operand { kX, kMean, kVariance, kW, kB, kResidual };
const char* const kName = "batch_norm_inference";

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  require_same_dtype(kName, inputs);
  require_epsilon(kName, attributes.as<BatchNormOptions>().epsilon);
  const Shape& x = inputs[kX].shape;
  require_channels(kName, x);
  const char* const names[] = {"x", "mean", "variance", "w", "b"};
  (void)inputs[kVariance];  // of the first three none may be missing
  for (size_t i = kMean; i <= kB; ++i) require_of_channels(kName, names[i], inputs, i, x);
  require_residual(kName, inputs, kResidual, x);
  return {pointwise_output(kName, inputs.first(1), inputs[kX].dtype)};
}

std::vector<int> rows(Specs inputs, const Attributes&) {
  return inputs.size() > kResidual && inputs[kResidual].defined ? std::vector<int>{kX, kResidual}
                                                                : std::vector<int>{kX};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  return {normalized(inputs, inputs[kMean], inputs[kVariance], kW, attributes.as<BatchNormOptions>())};
}

Tensor sums_of_channels(const Tensor& x) { return sum(x, axes_but_channels(x.shape())); }

/// With n = (x - mean) / σ and dz, dy where ReLU was open: dx = dz·w/σ, dmean = -Σ dz·w/σ, dvariance =
/// -Σ dz·n·w / (2σ²), dw = Σ dz·n, db = Σ dz, and the residual's is dz.
std::vector<Tensor> gradient(const GradientContext& context) {
  const auto& options = context.options<BatchNormOptions>();
  const Tensor x = context.input(kX), w = context.input(kW), dy = context.upstream();
  const Shape channels = channels_of(x.shape());
  const Tensor dz = options.relu ? relu_gradient(context.output(0), dy) : dy;
  const Tensor deviation = sqrt(context.input(kVariance) + options.epsilon);
  const Tensor scale = w.defined() ? w / deviation : 1 / deviation;
  std::vector<Tensor> result(6);
  if (context.needs(kX)) result[kX] = dz * reshape(scale, channels);
  if (context.needs(kMean) || context.needs(kB)) result[kB] = sums_of_channels(dz);
  if (context.needs(kMean)) result[kMean] = -(result[kB] * scale);
  if (context.needs(kVariance) || context.needs(kW)) {
    const Tensor centred = x - reshape(context.input(kMean), channels);
    result[kW] = sums_of_channels(dz * centred) / deviation;
  }
  if (context.needs(kVariance)) result[kVariance] = result[kW] * scale / deviation * -0.5;
  for (int i : {kW, kB})
    if (!context.needs(i)) result[size_t(i)] = {};
  if (context.needs(kResidual)) result[kResidual] = dz;
  return result;
}

void compose(const Composition& call) {
  const ChannelSteps steps(call, call.input(kX).shape, wide_dtype(call.output().dtype));
  const TensorView y = steps.exact_target(call.output());
  call.run(sub_op(), {steps.exact(kX), steps.along(steps.exact(kMean))}, {y});
  steps.finish(y, steps.exact(kVariance), kW, call.options<BatchNormOptions>());
  steps.deliver(y, call.output());
}

std::vector<TestCase> cases() {
  const BatchNormCases list{
      [](const char* label, const Shape& x, const BatchNormOptions& options, TestLayout layout) {
        TestCase one{label,
                     {{x, {}, layout},
                      {{x[1]}},
                      {{x[1]}, {TestFill::uniform, 1, 2}},
                      {{x[1]}},
                      {{x[1]}},
                      {x, {}, layout}},
                     Attributes::of(options)};
        for (size_t i : {kX, kMean, kVariance, kW})
          one.inputs[i].differentiable = std::isfinite(options.epsilon);
        one.inputs[kResidual].defined = false;
        return one;
      },
      kW, kB, kResidual};
  return list.all();
}

std::vector<RefusedCall> refused_calls() {
  const TestInput x{{2, 6, 5}}, c{{6}}, two{{2}}, none{.shape = {}, .defined = false};
  const TestInput exact{.shape = {6}, .dtype = {DType::f64}};
  return {refuses<ValueError>({x, c, c}, {"epsilon", "-1"}, Attributes::of(BatchNormOptions{-1})),
          refuses<ShapeError>({x, two, c}, {"mean has shape [2]", "[6]"}),
          refuses<ShapeError>({x, c, two}, {"variance has shape [2]", "[6]"}),
          refuses<ShapeError>({x, c, c, two}, {"w has shape [2]", "[6]"}),
          refuses<ShapeError>({x, c, c, none, two}, {"b has shape [2]", "[6]"}),
          refuses<ShapeError>({x, c, c, c, c, c}, {"residual has shape [6]", "[2, 6, 5]"}),
          refuses<ShapeError>({c, c, c}, {"[6]", "[N, C, ...]"}),
          refuses<DTypeError>({x, c, exact}, {kName, "f32", "f64"})};
}

ErrorModel error(Specs, const Attributes&) { return {ErrorModel::largest_input, 32}; }

}  // namespace

namespace ops {

void register_batch_norm_inference(Registry& registry) {
  registry.add({.name = kName,
                .summary = "y = (x - mean[c]) / √(variance[c] + ε) · w[c] + b[c] + residual",
                .options = &schema_of<BatchNormOptions>(),
                .autocast = AutocastPolicy::full,
                .optional = {kW, kB, kResidual},
                .infer = infer,
                .reference = reference,
                .rows = rows,
                .gradient = gradient,
                .saves = {{Saved::input, kX},
                          {Saved::input, kMean},
                          {Saved::input, kVariance},
                          {Saved::input, kW},
                          {Saved::output, 0}},
                .compose = compose,
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .operations = for_each_output(4),
                .never_negative = [](const Attributes& a) { return a.as<BatchNormOptions>().relu; }});
}

}  // namespace ops

const Op& batch_norm_inference_op() {
  static const Op& op = op_named(kName);
  return op;
}

Tensor batch_norm_inference(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& w,
                            const Tensor& b, const BatchNormOptions& options, const Tensor& residual) {
  return apply(batch_norm_inference_op(), {x, mean, variance, w, b, residual}, Attributes::of(options))[0];
}

}  // namespace treadle
