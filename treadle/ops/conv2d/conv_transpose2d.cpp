#include "treadle/ops/conv2d/conv_transpose2d.h"

#include "treadle/graph/registry.h"
#include "treadle/ops/conv2d/conv2d.h"
#include "treadle/ops/conv2d/conv2d_cost.h"
#include "treadle/ops/conv2d/conv2d_shape.h"
#include "treadle/ops/layout/declaration/convert.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

constexpr const char* kName = "conv_transpose2d";

/// Extent of y along an axis.
int64_t extent(int64_t places, int64_t taps, int64_t stride, int64_t dilation, int64_t pads, int64_t more) {
  return (places - 1) * stride - pads + dilation * (taps - 1) + 1 + more;
}

Shape output_shape(const Shape& x, const Shape& w, const ConvTranspose2dOptions& o) {
  return {x[0], w[1] * o.groups,
          extent(x[2], w[2], o.stride.height, o.dilation.height, o.padding.top + o.padding.bottom,
                 o.output_padding.height),
          extent(x[3], w[3], o.stride.width, o.dilation.width, o.padding.left + o.padding.right,
                 o.output_padding.width)};
}

/// Throws ShapeError unless x, w and the options fit together.
void check_operands(const Shape& x, const Shape& w, const ConvTranspose2dOptions& o) {
  require_sound(kName, o);
  auto below = [](int64_t more, int64_t stride) { return more >= 0 && more < stride; };
  require<ShapeError>(
      below(o.output_padding.height, o.stride.height) && below(o.output_padding.width, o.stride.width),
      "{}: output padding [{}, {}] must be from 0 to less than the stride [{}, {}]", kName,
      o.output_padding.height, o.output_padding.width, o.stride.height, o.stride.width);
  require_rank4(kName, "x", x);
  require_rank4(kName, "w", w);
  require<ShapeError>(x[1] == w[0] && x[1] % o.groups == 0,
                      "{}: x has shape {} with {} channels, w {} expects {}, in {} groups", kName, x, x[1], w,
                      w[0], o.groups);
  require<ShapeError>(std::max(x[2], x[3]) <= kMostGeometry && std::max(w[2], w[3]) <= kMostGeometry,
                      "{}: x {} or w {} is too large", kName, x, w);
}

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  require_same_dtype(kName, inputs);
  const Shape &x = inputs[0].shape, &w = inputs[1].shape;
  const auto& options = attributes.as<ConvTranspose2dOptions>();
  check_operands(x, w, options);
  const Shape y = output_shape(x, w, options);
  require<ShapeError>(x[2] > 0 && x[3] > 0 && w[2] > 0 && w[3] > 0 && y[2] > 0 && y[3] > 0,
                      "{}: x {} and w {} leave nothing within the padding [{}, {}, {}, {}]", kName, x, w,
                      options.padding.top, options.padding.left, options.padding.bottom,
                      options.padding.right);
  if (inputs.size() > 2 && inputs[2].defined)
    require<ShapeError>(inputs[2].shape == Shape{y[1]}, "{}: b has shape {}, w {} in {} groups expects [{}]",
                        kName, inputs[2].shape, w, options.groups, y[1]);
  checked_numel(y);
  return {image_spec(y, is_channels_last(x, inputs[0].strides), inputs[0].dtype)};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  const auto& o = attributes.as<ConvTranspose2dOptions>();
  const ReferenceTensor &x = inputs[0], &w = inputs[1];
  auto y = ReferenceTensor::zeros(output_shape(x.shape, w.shape, o));
  const int64_t K = x.shape[1], P = x.shape[2], Q = x.shape[3], R = w.shape[2], S = w.shape[3],
                channels = w.shape[1], C = y.shape[1], H = y.shape[2], W = y.shape[3];
  if (inputs.size() > 2 && inputs[2].defined)
    for (int64_t i = 0; i < y.shape.numel(); ++i) y.values[i] = inputs[2].values[i / (H * W) % C];
  for (int64_t i = 0; i < x.shape.numel(); ++i)
    for (int64_t j = 0; j < channels * R * S; ++j) {
      const int64_t n = i / (K * P * Q), k = i / (P * Q) % K, c = k / (K / o.groups) * channels + j / (R * S);
      const int64_t h = i / Q % P * o.stride.height + j / S % R * o.dilation.height - o.padding.top,
                    column = i % Q * o.stride.width + j % S * o.dilation.width - o.padding.left;
      if (h >= 0 && h < H && column >= 0 && column < W)
        y.values[((n * C + c) * H + h) * W + column] += x.values[i] * w.values[k * channels * R * S + j];
    }
  return {y};
}

/// What conv2d gives of dy, with the filters as they are.
std::vector<Tensor> gradient(const GradientContext& context) {
  const Conv2dOptions& options = context.options<ConvTranspose2dOptions>();
  const Shape& w = context.input_spec(1).shape;
  const Tensor dy = context.upstream();
  return {context.needs(0) ? conv2d(dy, context.input(1), {}, options) : Tensor(),
          context.needs(1) ? conv2d_weight_gradient(dy, context.input(0), {options, {w[2], w[3]}}) : Tensor(),
          context.needs(2) ? sum(dy, {0, 2, 3}) : Tensor()};
}

/// Half types with a bias are computed in f32 and rounded once.
void compose(const Composition& call) {
  const TensorView& y = call.output();
  const auto attributes = Attributes::of(Conv2dInputGradientOptions{call.options<ConvTranspose2dOptions>(),
                                                                    {y.shape[2], y.shape[3]},
                                                                    is_channels_last(y.shape, y.strides)});
  if (!call.has_input(2))
    return call.run(conv2d_input_gradient_op(), {call.input(0), call.input(1)}, {y}, attributes);
  const DType dtype = wide_dtype(y.dtype);
  const TensorView exact = y.dtype == dtype ? y : scratch_like(call, y, dtype);
  call.run(conv2d_input_gradient_op(),
           {as_dtype(call, call.input(0), dtype), as_dtype(call, call.input(1), dtype)}, {exact}, attributes);
  call.run(add_op(), {exact, reshaped(row_major(call, call.input(2), dtype), {y.shape[1], 1, 1})}, {exact});
  if (y.dtype != dtype) convert(call, exact, y);
}

TestCase one(const char* label, const Shape& x, const Shape& w, const ConvTranspose2dOptions& options = {},
             TestLayout layout = TestLayout::contiguous) {
  return {label, {{x, {}, layout}, {w}, {{w[1] * options.groups}}}, Attributes::of(options)};
}

TestCase without_bias(TestCase test_case) {
  test_case.inputs[2].defined = false;
  return test_case;
}

ConvTranspose2dOptions with(const Conv2dOptions& options, Pair output_padding = 0) {
  return {options, output_padding};
}

std::vector<TestCase> cases() {
  using enum TestLayout;
  const auto doubling = with({.stride = 2, .padding = 1}, 1);
  return {
      one("3x3", {2, 3, 4, 5}, {3, 4, 3, 3}),
      one("one", {1, 1, 1, 1}, {1, 1, 1, 1}),
      one("padded", {2, 4, 5, 5}, {4, 3, 3, 3}, with({.padding = 1}), channels_last),
      one("doubling", {2, 4, 3, 4}, {4, 3, 3, 3}, doubling),
      one("doubling channels_last", {2, 6, 4, 3}, {6, 5, 3, 3}, doubling, channels_last),
      one("uneven", {2, 3, 3, 4}, {3, 2, 3, 2}, with({.stride = {3, 2}, .padding = {1, 0, 0, 1}}, {2, 1})),
      one("dilated", {1, 3, 4, 5}, {3, 4, 3, 2}, with({.padding = 1, .dilation = {2, 3}})),
      one("grouped", {2, 6, 4, 3}, {6, 2, 3, 3}, with({.stride = 2, .padding = 1, .groups = 3})),
      one("depthwise", {2, 5, 4, 4}, {5, 1, 3, 3}, with({.padding = 1, .groups = 5}), channels_last),
      without_bias(one("without bias", {2, 3, 4, 5}, {3, 4, 3, 3})),
      without_bias(one("without bias channels_last", {2, 4, 3, 4}, {4, 3, 2, 2}, doubling, channels_last)),
      one("empty batch", {0, 3, 4, 4}, {3, 2, 3, 3}),
      one("transposed", {3, 4, 4, 5}, {4, 3, 3, 3}, {}, transposed),
      one("sliced", {2, 3, 4, 5}, {3, 3, 2, 2}, {}, sliced),
      one("expanded", {2, 3, 4, 4}, {3, 4, 3, 3}, {}, expanded)};
}

std::vector<RefusedCall> refused_calls() {
  const TestInput x{{1, 4, 5, 5}}, w{{4, 2, 3, 3}};
  auto refused = [&](const ConvTranspose2dOptions& options, std::vector<std::string> says) {
    return refuses<ShapeError>({x, w}, std::move(says), Attributes::of(options));
  };
  return {refused(with({.stride = 0}), {"conv_transpose2d", "stride [0, 0]"}),
          refused(with({.padding = -1}), {"padding [-1"}),
          refused(with({.padding = 4}), {"padding [4", "[1, 4, 5, 5]"}),
          refused(with({.dilation = INT64_MAX}), {"dilation"}),
          refused(with({.groups = 3}), {"3 groups", "[1, 4, 5, 5]"}),
          refused(with({}, 1), {"output padding [1, 1]", "[1, 1]"}),
          refused(with({.stride = 2}, -1), {"output padding [-1, -1]"}),
          refused(with({.stride = kMostGeometry}), {"too many"}),
          refuses<ShapeError>({x, {{3, 2, 3, 3}}}, {"4 channels", "[3, 2, 3, 3]"}),
          refuses<ShapeError>({x, {{4, 2, 0, 3}}}, {"[4, 2, 0, 3]"}),
          refuses<ShapeError>({{{4, 5, 5}}, w}, {"x", "[4, 5, 5]"}),
          refuses<ShapeError>({x, w, {{3}}}, {"[3]", "[2]"}),
          refuses<DTypeError>({x, {.shape = w.shape, .dtype = {DType::f64}}}, {"f32", "f64"})};
}

ErrorModel error(Specs inputs, const Attributes& attributes) {
  const Shape& w = inputs[1].shape;
  return {ErrorModel::absolute_inputs,
          double(w[0] / attributes.as<ConvTranspose2dOptions>().groups * w[2] * w[3] + 1)};
}

double operations(const Call& call) { return 2 * elements(call.input(0)) * filter_terms(call.input(1)); }

}  // namespace

namespace ops {

void register_conv_transpose2d(Registry& registry) {
  registry.add(
      {.name = kName,
       .summary =
           "y [N,C,H,W]: what conv2d's input gradient is of x [N,K,P,Q] and w [K,C/groups,R,S], + b[c]",
       .options = &schema_of<ConvTranspose2dOptions>(),
       .autocast = AutocastPolicy::low,
       .optional = {2},
       .infer = infer,
       .reference = reference,
       .rows = rows_of_first,
       .gradient = gradient,
       .saves = {{Saved::input, 0}, {Saved::input, 1}},
       .compose = compose,
       .cases = cases,
       .refused_calls = refused_calls,
       .error = error,
       .operations = operations});
}

}  // namespace ops

Tensor conv_transpose2d(const Tensor& x, const Tensor& w, const Tensor& b,
                        const ConvTranspose2dOptions& options) {
  static const Op& op = op_named(kName);
  return apply(op, {x, w, b}, Attributes::of(options))[0];
}

}  // namespace treadle
