#include "treadle/ops/norm/group_norm.h"

#include <cmath>

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/fill/fill_options.h"
#include "treadle/ops/layout/declaration/convert.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/norm/channels.h"
#include "treadle/ops/norm/layer_norm.h"
#include "treadle/ops/norm/normalized_rows.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pointwise/pointwise_layout.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

/// x [N, C, …] as rows that are normalised: [N, groups, elements of a group].
Shape rows_of(const Shape& x, const Attributes& attributes) {
  const int64_t groups = attributes.as<GroupNormOptions>().groups;
  return {x[0], groups, x[1] / groups * places_of(x)};
}

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  require_same_dtype("group_norm", inputs);
  const auto& options = attributes.as<GroupNormOptions>();
  require_epsilon("group_norm", options.epsilon);
  const Shape& x = inputs[0].shape;
  require_channels("group_norm", x);
  require<ShapeError>(options.groups > 0 && x[1] % options.groups == 0,
                      "group_norm: the {} channels of x {} do not divide into {} groups", x[1], x,
                      options.groups);
  require_of_channels("group_norm", "w", inputs, 1, x);
  require_of_channels("group_norm", "b", inputs, 2, x);
  return {pointwise_output("group_norm", inputs.first(1), inputs[0].dtype)};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  ReferenceTensor y = inputs[0];
  normalize_rows(y.values, rows_of(y.shape, attributes)[2], attributes.as<GroupNormOptions>().epsilon);
  const size_t C = size_t(y.shape[1]), places = size_t(places_of(y.shape));
  const bool has_weight = inputs.size() > 1 && inputs[1].defined,
             has_bias = inputs.size() > 2 && inputs[2].defined;
  for (size_t i = 0; i < y.values.size(); ++i) {
    const size_t c = i / places % C;
    y.values[i] = y.values[i] * (has_weight ? inputs[1].values[c] : 1) + (has_bias ? inputs[2].values[c] : 0);
  }
  return {y};
}

/// [N, C, …] → [C].
Tensor sums_of_channels(const Tensor& x) {
  return sum(reshape(x, {x.size(0), x.size(1), places_of(x.shape())}), {0, 2});
}

/// With n = (x - mean) / σ: the gradient of n is dy·w, dw = Σ dy·n and db = Σ dy over images and places.
std::vector<Tensor> gradient(const GradientContext& context) {
  const Tensor x = context.input(0), w = context.input(1), dy = context.upstream();
  const Shape rows = rows_of(x.shape(), context.attributes());
  const NormalizedRows normalized(reshape(x, rows), context.options<GroupNormOptions>().epsilon);
  std::vector<Tensor> result(3);
  if (context.needs(0)) {
    const Tensor dn = w.defined() ? dy * reshape(w, channels_of(x.shape())) : dy;
    result[0] = reshape(normalized.gradient(reshape(dn, rows)), x.shape());
  }
  if (context.needs(1)) result[1] = sums_of_channels(dy * reshape(normalized.n(), x.shape()));
  if (context.needs(2)) result[2] = sums_of_channels(dy);
  return result;
}

/// A group is a row of layer_norm, whose weights would be those within a group: they are 1.
void normalize(const Composition& call, const TensorView& x, const TensorView& y) {
  static const Attributes one = Attributes::of(FillOptions{1});
  const Shape rows = rows_of(x.shape, call.attributes());
  const TensorView ones = call.scratch({rows[2]}, x.dtype);
  call.run(fill_op(), {ones}, {ones}, one);
  call.run(layer_norm_op(), {reshaped(x, rows), ones}, {reshaped(y, rows)},
           Attributes::of(LayerNormOptions{call.options<GroupNormOptions>().epsilon}));
}

/// Half types are computed in f32 and rounded once. Rows need operands that lie row-major: others are copied.
void compose(const Composition& call) {
  const TensorView& y = call.output();
  const DType dtype = wide_dtype(y.dtype);
  auto exactly = [&](int input) { return row_major(call, call.input(input), dtype); };
  const bool directly = y.dtype == dtype && y.contiguous();
  const TensorView exact = directly ? y : call.scratch(y.shape, dtype);
  normalize(call, exactly(0), exact);
  const Shape channels = channels_of(y.shape);
  if (call.has_input(1)) call.run(mul_op(), {exact, reshaped(exactly(1), channels)}, {exact});
  if (call.has_input(2)) call.run(add_op(), {exact, reshaped(exactly(2), channels)}, {exact});
  if (!directly) convert(call, exact, y);
}

/// x is constant where its groups have one element, and y is b where ε is infinite: the gradients of x and w
/// are zero then, which finite differences cannot tell from missing ones.
TestCase case_of(const char* label, const Shape& x, const GroupNormOptions& options,
                 TestLayout layout = TestLayout::contiguous) {
  TestCase one{label, {{x, {}, layout}, {{x[1]}}, {{x[1]}}}, Attributes::of(options)};
  const bool varies = rows_of(x, one.attributes)[2] != 1 && std::isfinite(options.epsilon);
  one.inputs[0].differentiable = one.inputs[1].differentiable = varies;
  return one;
}

TestCase without(TestCase one, std::initializer_list<int> inputs) {
  for (int i : inputs) one.inputs[size_t(i)].defined = false;
  return one;
}

/// No group has two elements, nor has one where other extents become 1: they are near ±1 whatever x is, and
/// x's gradient is what rounding leaves of terms that cancel.
std::vector<TestCase> cases() {
  using enum TestLayout;
  TestCase laid_out = case_of("operands in slices", {3, 6, 5}, {2}, transposed);
  for (int i : {1, 2}) laid_out.inputs[size_t(i)].layout = sliced;
  return {case_of("image", {2, 6, 3, 5}, {3}),
          case_of("one group", {3, 4, 2, 3}, {1}),
          case_of("a group for each channel", {2, 5, 3, 4}, {5}),
          case_of("a group for each channel, no spatial axes", {3, 4}, {4}),
          case_of("no spatial axes", {5, 12}, {2}),
          case_of("one spatial axis", {2, 6, 7}, {2}),
          case_of("three spatial axes", {2, 4, 3, 2, 5}, {2}),
          case_of("eight axes", {2, 4, 1, 2, 1, 3, 1, 2}, {2}),
          case_of("spatial axes of 1", {2, 12, 1, 1}, {3}),
          case_of("one channel", {3, 1, 4, 5}, {1}),
          without(case_of("no weight", {2, 6, 3, 5}, {3}), {1}),
          without(case_of("no bias", {2, 6, 3, 5}, {3}), {2}),
          without(case_of("no weight, no bias", {2, 6, 3, 5}, {2}), {1, 2}),
          case_of("large epsilon", {2, 6, 7}, {2, 0.5}),
          case_of("infinite epsilon", {2, 6, 7}, {2, INFINITY}),
          case_of("long groups", {2, 4, 23, 29}, {2}),
          case_of("several threads", {13, 8, 6, 7}, {4}),
          case_of("channels_last", {2, 6, 4, 5}, {3}, channels_last),
          case_of("one group channels_last", {2, 7, 3, 5}, {1}, channels_last),
          without(case_of("channels_last, no weight, no bias", {2, 6, 4, 5}, {2}, channels_last), {1, 2}),
          case_of("transposed", {4, 6, 5}, {2}, transposed),
          case_of("sliced", {4, 6, 5}, {2}, sliced),
          case_of("expanded", {4, 6, 5}, {2}, expanded),
          laid_out,
          case_of("no images", {0, 6, 4}, {3}),
          case_of("no channels", {2, 0, 4}, {3}),
          case_of("no places", {2, 6, 0, 4}, {3})};
}

std::vector<RefusedCall> refused_calls() {
  const TestInput x{{2, 6, 5}}, w{{6}}, two{{2}}, none{.shape = {}, .defined = false};
  const TestInput exact{.shape = {6}, .dtype = {DType::f64}};
  auto with = [](int64_t groups, double epsilon = 1e-5) {
    return Attributes::of(GroupNormOptions{groups, epsilon});
  };
  return {refuses<ValueError>({x, w}, {"epsilon", "-1"}, with(1, -1)),
          refuses<ValueError>({x, w}, {"epsilon", "nan"}, with(1, NAN)),
          refuses<ShapeError>({x, w}, {"6 channels", "[2, 6, 5]", "4 groups"}, with(4)),
          refuses<ShapeError>({x, w}, {"6 channels", "12 groups"}, with(12)),
          refuses<ShapeError>({x, w}, {"6 channels", "0 groups"}, with(0)),
          refuses<ShapeError>({x, w}, {"6 channels", "-3 groups"}, with(-3)),
          refuses<ShapeError>({x, two}, {"w has shape [2]", "[2, 6, 5]", "[6]"}),
          refuses<ShapeError>({x, none, two}, {"b has shape [2]", "[2, 6, 5]", "[6]"}),
          refuses<ShapeError>({w, w}, {"[6]", "[N, C, ...]"}),
          refuses<ShapeError>({TestInput{{}}}, {"[]", "[N, C, ...]"}),
          refuses<DTypeError>({x, exact}, {"group_norm", "f32", "f64"}),
          refuses<DTypeError>({x, w, exact}, {"group_norm", "f32", "f64"})};
}

ErrorModel error(Specs inputs, const Attributes& attributes) {
  return error_of_rows(rows_of(inputs[0].shape, attributes)[2]);
}

std::vector<BenchCase> bench_cases(DeviceKind device) {
  if (device == DeviceKind::simt) return {};
  return {{"32×64×56×56 in 32 groups", {{32, 64, 56, 56}, {64}, {64}}, Attributes::of(GroupNormOptions{32})}};
}

}  // namespace

namespace ops {

void register_group_norm(Registry& registry) {
  registry.add({.name = "group_norm",
                .summary = "y = (x - mean) / √(variance + ε) · w[c] + b[c] over each group of channels",
                .options = &schema_of<GroupNormOptions>(),
                .autocast = AutocastPolicy::full,
                .optional = {1, 2},
                .infer = infer,
                .reference = reference,
                .rows = rows_of_first,
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

Tensor group_norm(const Tensor& x, const Tensor& w, const Tensor& b, const GroupNormOptions& options) {
  static const Op& op = op_named("group_norm");
  return apply(op, {x, w, b}, Attributes::of(options))[0];
}

}  // namespace treadle
