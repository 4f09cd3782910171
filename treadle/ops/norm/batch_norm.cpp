#include "treadle/ops/norm/batch_norm.h"

#include <cmath>

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/norm/batch_norm_gradient.h"
#include "treadle/ops/norm/channel_steps.h"
#include "treadle/ops/norm/declaration/batch_norm_cases.h"
#include "treadle/ops/norm/normalized_rows.h"
#include "treadle/ops/pointwise/pointwise_layout.h"

namespace treadle {
namespace {

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  require_same_dtype("batch_norm", inputs);
  require_epsilon("batch_norm", attributes.as<BatchNormOptions>().epsilon);
  const Shape& x = inputs[0].shape;
  require_channels("batch_norm", x);
  require_of_channels("batch_norm", "w", inputs, 1, x);
  require_of_channels("batch_norm", "b", inputs, 2, x);
  require_residual("batch_norm", inputs, 3, x);
  const TensorSpec statistics = TensorSpec::of({x[1]}, wide_dtype(inputs[0].dtype));
  return {pointwise_output("batch_norm", inputs.first(1), inputs[0].dtype), statistics, statistics};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  const ReferenceTensor& x = inputs[0];
  ReferenceTensor mean = ReferenceTensor::zeros({x.shape[1]}), variance = mean;
  const double count = double(x.shape[0] * places_of(x.shape));
  for_each_element(x.shape, [&](size_t i, size_t c) { mean.values[c] += x.values[i] / count; });
  if (count == 0) mean.values.assign(mean.values.size(), NAN), variance = mean;
  for_each_element(x.shape, [&](size_t i, size_t c) {
    variance.values[c] += (x.values[i] - mean.values[c]) * (x.values[i] - mean.values[c]) / count;
  });
  return {normalized(inputs, mean, variance, 1, attributes.as<BatchNormOptions>()), mean, variance};
}

/// dx, with what comes by mean and variance themselves: dmean/M and dvariance·2(x - mean)/M, for M elements
/// of a channel. Only gradients of gradients send any there.
Tensor with_statistics(const GradientContext& context, Tensor dx) {
  const Tensor dmean = context.upstream(1), dvariance = context.upstream(2);
  if (!dmean.defined() && !dvariance.defined()) return dx;
  const TensorSpec& spec = context.input_spec(0);
  const Shape channels = channels_of(spec.shape);
  const double M = double(spec.shape[0] * places_of(spec.shape));
  Tensor sum;
  if (dvariance.defined())
    sum = (cast(context.input(0), dvariance.dtype()) - reshape(context.output(1), channels)) *
          reshape(dvariance * (2 / M), channels);
  if (dmean.defined()) {
    const Tensor of_mean = expand(reshape(dmean / M, channels), spec.shape);
    sum = sum.defined() ? sum + of_mean : of_mean;
  }
  sum = cast(sum, spec.dtype);
  return dx.defined() ? dx + sum : sum;
}

/// dy as x lies, which passes over both need: that of a mean, say, is one element for a whole channel.
Tensor lying_as(const Tensor& x, const Tensor& dy) {
  return is_channels_last(x.shape(), x.strides()) ? to_channels_last(dy) : contiguous(dy);
}

std::vector<Tensor> gradient(const GradientContext& context) {
  const auto& options = context.options<BatchNormOptions>();
  BatchNormGradients gradients;
  if (context.upstream(0).defined()) {
    const bool residual = context.input_spec(3).defined, from_x = options.relu && !residual;
    gradients = batch_norm_gradient(
        lying_as(context.input(0), context.upstream(0)), context.input(0), context.output(1),
        context.output(2), context.input(1), options.relu && residual ? context.output(0) : Tensor(),
        from_x ? context.input(2) : Tensor(), {options.epsilon, context.needs(3), false, from_x});
  }
  if (context.needs(0)) gradients.x = with_statistics(context, gradients.x);
  return {gradients.x, context.needs(1) ? gradients.w : Tensor(), context.needs(2) ? gradients.b : Tensor(),
          context.needs(3) ? gradients.residual : Tensor()};
}

/// Of each channel of x, which has elements, the first one.
TensorView first_of_channels(const TensorView& x) {
  TensorView first = x;
  first.shape = {x.shape[1]};
  first.strides = contiguous_strides(first.shape);
  first.strides[0] = x.strides[1];
  return first;
}

/// Means are taken of distances from each channel's first element: those of constant channels are exact, and
/// others owe nothing to how far from 0 a channel lies.
void compose(const Composition& call) {
  const ChannelSteps steps(call, call.input(0).shape, wide_dtype(call.output().dtype));
  const TensorView x = steps.exact(call.input(0)), y = steps.exact_target(call.output()),
                   mean = call.output(1), variance = call.output(2);
  if (x.numel() == 0) return steps.mean(x, mean), steps.mean(x, variance);
  const TensorView first = first_of_channels(x);
  call.run(sub_op(), {x, steps.along(first)}, {y});
  steps.mean(y, mean);
  call.run(sub_op(), {y, steps.along(mean)}, {y});
  call.run(add_op(), {mean, first}, {mean});
  const TensorView squares = steps.scratch_like(y);
  call.run(mul_op(), {y, y}, {squares});
  steps.mean(squares, variance);
  steps.finish(y, variance, 1, call.options<BatchNormOptions>());
  steps.deliver(y, call.output());
}

/// Elements of each channel: never two, nor does a case that follows with extents of 1 have so many. They
/// would be near ±1 whatever x is.
std::vector<TestCase> cases() {
  const BatchNormCases list{
      [](const char* label, const Shape& x, const BatchNormOptions& options, TestLayout layout) {
        TestCase one{label, {{x, {}, layout}, {{x[1]}}, {{x[1]}}, {x, {}, layout}}, Attributes::of(options)};
        const bool varies = x[0] * places_of(x) != 1 && std::isfinite(options.epsilon);
        one.inputs[0].differentiable = one.inputs[1].differentiable = varies && x.numel() > 0;
        one.inputs[2].differentiable = x.numel() > 0;
        one.inputs[3].defined = false;
        return one;
      },
      1, 2, 3};
  return list.all();
}

std::vector<RefusedCall> refused_calls() {
  const TestInput x{{2, 6, 5}}, w{{6}}, two{{2}}, none{.shape = {}, .defined = false};
  const TestInput exact{.shape = {6}, .dtype = {DType::f64}};
  auto with = [](double epsilon) { return Attributes::of(BatchNormOptions{epsilon}); };
  return {refuses<ValueError>({x, w}, {"epsilon", "-1"}, with(-1)),
          refuses<ValueError>({x, w}, {"epsilon", "nan"}, with(NAN)),
          refuses<ShapeError>({x, two}, {"w has shape [2]", "[2, 6, 5]", "[6]"}),
          refuses<ShapeError>({x, none, two}, {"b has shape [2]", "[2, 6, 5]", "[6]"}),
          refuses<ShapeError>({x, w, w, w}, {"residual has shape [6]", "[2, 6, 5]"}),
          refuses<ShapeError>({w, w}, {"[6]", "[N, C, ...]"}),
          refuses<DTypeError>({x, exact}, {"batch_norm", "f32", "f64"})};
}

ErrorModel error(Specs inputs, const Attributes&) {
  const Shape& x = inputs[0].shape;
  return error_of_rows(x.rank() < 2 ? 0 : x[0] * places_of(x));
}

std::vector<BenchCase> bench_cases(DeviceKind device) {
  if (device == DeviceKind::simt) return {};
  const Attributes plain = Attributes::of(BatchNormOptions{}),
                   relu = Attributes::of(BatchNormOptions{1e-5, true});
  const Shape x{128, 32, 28, 28}, c{32};
  return {{"128×32×28×28", {x, c, c}, plain},
          {"128×32×28×28 channels_last", {x, c, c}, plain, true},
          {"128×32×28×28 residual, ReLU, channels_last", {x, c, c, x}, relu, true},
          {"128×1024", {{128, 1024}, {1024}, {1024}}, plain}};
}

}  // namespace

namespace ops {

void register_batch_norm(Registry& registry) {
  registry.add(
      {.name = "batch_norm",
       .summary = "y = (x - mean) / √(variance + ε) · w[c] + b[c] + residual over each channel's elements",
       .options = &schema_of<BatchNormOptions>(),
       .autocast = AutocastPolicy::full,
       .optional = {1, 2, 3},
       .infer = infer,
       .reference = reference,
       .gradient = gradient,
       .saves = {{Saved::input, 0},
                 {Saved::input, 1},
                 {Saved::input, 2},
                 {Saved::output, 0},
                 {Saved::output, 1},
                 {Saved::output, 2}},
       .compose = compose,
       .cases = cases,
       .refused_calls = refused_calls,
       .error = error,
       .operations = for_each_of_input(0, 8),
       .bench_cases = bench_cases,
       .never_negative = [](const Attributes& a) { return a.as<BatchNormOptions>().relu; }});
}

}  // namespace ops

const Op& batch_norm_op() {
  static const Op& op = op_named("batch_norm");
  return op;
}

BatchNormResult batch_norm(const Tensor& x, const Tensor& w, const Tensor& b, const BatchNormOptions& options,
                           const Tensor& residual) {
  auto outputs = apply(batch_norm_op(), {x, w, b, residual}, Attributes::of(options));
  return {outputs[0], outputs[1], outputs[2]};
}

}  // namespace treadle
