#include "treadle/ops/norm/layer_norm.h"

#include <cmath>

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/layout/declaration/convert.h"
#include "treadle/ops/norm/layer_norm_gradient.h"
#include "treadle/ops/norm/normalized_rows.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/reduce/reduce_options.h"

namespace treadle {
namespace {

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  require_same_dtype("layer_norm", inputs);
  require_epsilon("layer_norm", attributes.as<LayerNormOptions>().epsilon);
  const Shape &x = inputs[0].shape, &w = inputs[1].shape;
  require<ShapeError>(x.rank() > 0, "layer_norm: x has no axis");
  require<ShapeError>(w == Shape{x[-1]}, "layer_norm: w has shape {}, x {} expects [{}]", w, x, x[-1]);
  if (inputs.size() > 2 && inputs[2].defined)
    require<ShapeError>(inputs[2].shape == w, "layer_norm: b has shape {}, w {}", inputs[2].shape, w);
  return {TensorSpec::of(x, inputs[0].dtype)};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  ReferenceTensor y = inputs[0];
  const size_t C = size_t(y.shape[-1]);
  const bool has_bias = inputs.size() > 2 && inputs[2].defined;
  normalize_rows(y.values, y.shape[-1], attributes.as<LayerNormOptions>().epsilon);
  for (size_t i = 0; i < y.values.size(); ++i)
    y.values[i] = y.values[i] * inputs[1].values[i % C] + (has_bias ? inputs[2].values[i % C] : 0);
  return {y};
}

std::vector<Tensor> gradient(const GradientContext& context) {
  const LayerNormGradients all = layer_norm_gradient(context.upstream(), context.input(0), context.input(1),
                                                     context.options<LayerNormOptions>());
  return {all.x, all.w, all.b};
}

/// All operands of one dtype, f32 or f64.
void compose_exactly(const Composition& call, const TensorView& x, const TensorView& w, const TensorView& b,
                     const TensorView& y) {
  static const Attributes over_rows = Attributes::of(ReduceOptions{.axes = {-1}, .keep_axes = true});
  Shape rows = x.shape;
  rows[-1] = 1;
  const TensorView of_row = call.scratch(rows, x.dtype), squares = call.scratch(x.shape, x.dtype),
                   epsilon = number(call, call.options<LayerNormOptions>().epsilon, x.dtype);
  call.run(mean_op(), {x}, {of_row}, over_rows);
  call.run(sub_op(), {x, of_row}, {y});
  call.run(mul_op(), {y, y}, {squares});
  call.run(mean_op(), {squares}, {of_row}, over_rows);
  call.run(add_op(), {of_row, epsilon}, {of_row});
  call.run(sqrt_op(), {of_row}, {of_row});
  call.run(div_op(), {y, of_row}, {y});
  call.run(mul_op(), {y, w}, {y});
  if (b.defined()) call.run(add_op(), {y, b}, {y});
}

/// Half types are computed in f32 and rounded once.
void compose(const Composition& call) {
  const TensorView &x = call.input(0), &y = call.output();
  const TensorView b = call.has_input(2) ? call.input(2) : TensorView{};
  if (size_of(x.dtype) != 2) return compose_exactly(call, x, call.input(1), b, y);
  auto as_f32 = [&](const TensorView& operand) { return row_major(call, operand, DType::f32); };
  const TensorView exact = call.scratch(y.shape, DType::f32);
  compose_exactly(call, as_f32(x), as_f32(call.input(1)), b.defined() ? as_f32(b) : b, exact);
  convert(call, exact, y);
}

std::vector<TestCase> cases() {
  auto three = [](const char* label, Shape x, bool bias = true, TestLayout layout = TestLayout::contiguous,
                  double epsilon = 1e-5) {
    TestCase one{label, {{x, {}, layout}, {{x[-1]}}, {{x[-1]}}}, Attributes::of(LayerNormOptions{epsilon})};
    one.inputs[2].defined = bias;
    for (int i : {0, 1}) one.inputs[i].differentiable = std::isfinite(epsilon);  // else y = b
    return one;
  };
  return {three("rows", {5, 10}),
          three("no bias", {5, 10}, false),
          three("large epsilon", {4, 7}, true, TestLayout::contiguous, 0.5),
          three("longer rows", {3, 129}),
          three("long rows", {2, 1283}),
          three("several threads", {67, 33}),
          three("infinite epsilon", {4, 7}, true, TestLayout::contiguous, INFINITY),
          three("one row", {13}),
          three("three axes", {3, 4, 11}),
          three("channels_last", {2, 7, 3, 5}, true, TestLayout::channels_last),
          three("transposed", {4, 6, 9}, true, TestLayout::transposed),
          three("sliced", {6, 11}, true, TestLayout::sliced),
          three("no rows", {0, 7}),
          three("no elements", {3, 0})};
}

std::vector<RefusedCall> refused_calls() {
  const TestInput x{{2, 3}}, w{{3}}, two{{2}}, scalar{{}};
  auto with = [](double epsilon) { return Attributes::of(LayerNormOptions{epsilon}); };
  return {refuses<ValueError>({x, w}, {"epsilon", "-1"}, with(-1)),
          refuses<ValueError>({x, w}, {"epsilon", "nan"}, with(NAN)),
          refuses<ShapeError>({x, two}, {"[2]", "[2, 3]"}),
          refuses<ShapeError>({x, w, two}, {"[2]", "[3]"}),
          refuses<ShapeError>({scalar, w}, {"no axis"}),
          refuses<DTypeError>({x, {.shape = {3}, .dtype = {DType::f64}}}, {"layer_norm", "f32", "f64"})};
}

ErrorModel error(Specs inputs, const Attributes&) { return error_of_rows(inputs[0].shape[-1]); }

std::vector<BenchCase> bench_cases(DeviceKind device) {
  if (device == DeviceKind::simt)
    return {{"64×512", {{64, 512}, {512}, {512}}, Attributes::of(LayerNormOptions{})}};
  return {{"4096×768", {{4096, 768}, {768}, {768}}, Attributes::of(LayerNormOptions{})}};
}

}  // namespace

namespace ops {

void register_layer_norm(Registry& registry) {
  registry.add({.name = "layer_norm",
                .summary = "y = (x - mean) / √(variance + ε) · w + b along the last axis",
                .options = &schema_of<LayerNormOptions>(),
                .autocast = AutocastPolicy::full,
                .optional = {2},
                .infer = infer,
                .reference = reference,
                .rows = [](Specs inputs, const Attributes&) { return rows_of_first_but_along(-1, inputs); },
                .gradient = gradient,
                .saves = {{Saved::input, 0}, {Saved::input, 1}},
                .compose = compose,
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .operations = for_each_output(8),
                .bench_cases = bench_cases});
}

}  // namespace ops

const Op& layer_norm_op() {
  static const Op& op = op_named("layer_norm");
  return op;
}

Tensor layer_norm(const Tensor& x, const Tensor& w, const Tensor& b, const LayerNormOptions& options) {
  return apply(layer_norm_op(), {x, w, b}, Attributes::of(options))[0];
}

}  // namespace treadle
