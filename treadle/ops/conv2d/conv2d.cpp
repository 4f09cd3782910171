#include "treadle/ops/conv2d/conv2d.h"

#include "treadle/core/error.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/conv2d/conv2d_cost.h"
#include "treadle/ops/conv2d/conv2d_shape.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/window_reference.h"

namespace treadle {
namespace {

int64_t positions_h(int64_t H, int64_t R, const Conv2dOptions& o) {
  return window_positions(H, o.padding.top, o.padding.bottom, R, o.stride.height, o.dilation.height);
}

int64_t positions_w(int64_t W, int64_t S, const Conv2dOptions& o) {
  return window_positions(W, o.padding.left, o.padding.right, S, o.stride.width, o.dilation.width);
}

/// Shape of y; throws when x, w and the options do not fit together.
Shape output_shape(const char* op, const Shape& x, const Shape& w, const Conv2dOptions& o) {
  require_sound(op, o);
  require_rank4(op, "x", x);
  require_rank4(op, "w", w);
  require<ShapeError>(x[1] % o.groups == 0 && x[1] / o.groups == w[1],
                      "{}: x has shape {} with {} channels, w {} in {} groups expects {}", op, x, x[1], w,
                      o.groups, w[1] * o.groups);
  require<ShapeError>(w[0] % o.groups == 0,
                      "{}: w has shape {} with {} filters, which {} groups do not divide", op, w, w[0],
                      o.groups);
  Shape y{x[0], w[0], positions_h(x[2], w[2], o), positions_w(x[3], w[3], o)};
  require<ShapeError>(w[2] > 0 && w[3] > 0 && y[2] > 0 && y[3] > 0,
                      "{}: the window of w {} does not fit into x {} with padding [{}, {}, {}, {}]", op, w, x,
                      o.padding.top, o.padding.left, o.padding.bottom, o.padding.right);
  return y;
}

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  require_same_dtype("conv2d", inputs);
  const Shape &x = inputs[0].shape, &w = inputs[1].shape;
  Shape y = output_shape("conv2d", x, w, attributes.as<Conv2dOptions>());
  if (inputs.size() > 2 && inputs[2].defined)
    require<ShapeError>(inputs[2].shape == Shape{w[0]}, "conv2d: b has shape {}, w {} expects [{}]",
                        inputs[2].shape, w, w[0]);
  return {image_spec(y, is_channels_last(x, inputs[0].strides), inputs[0].dtype)};
}

void require_output_gradient(const char* op, const Shape& dy, const Shape& expected, const Shape& x,
                             const Shape& w) {
  require<ShapeError>(dy == expected, "{}: dy has shape {}, x {} and w {} expect {}", op, dy, x, w, expected);
}

std::vector<TensorSpec> infer_input_gradient(Specs inputs, const Attributes& attributes) {
  const char* op = "conv2d_input_gradient";
  require_same_dtype(op, inputs);
  auto& options = attributes.as<Conv2dInputGradientOptions>();
  const Shape &dy = inputs[0].shape, &w = inputs[1].shape;
  require_sound(op, options);
  require_rank4(op, "dy", dy);
  require_rank4(op, "w", w);
  Shape dx{dy[0], w[1] * options.groups, options.input_size.height, options.input_size.width};
  checked_numel(dx);
  require_output_gradient(op, dy, output_shape(op, dx, w, options), dx, w);
  return {image_spec(dx, options.channels_last, inputs[0].dtype)};
}

std::vector<TensorSpec> infer_weight_gradient(Specs inputs, const Attributes& attributes) {
  const char* op = "conv2d_weight_gradient";
  require_same_dtype(op, inputs);
  auto& options = attributes.as<Conv2dWeightGradientOptions>();
  const Shape &x = inputs[0].shape, &dy = inputs[1].shape;
  require_sound(op, options);
  require_rank4(op, "x", x);
  require_rank4(op, "dy", dy);
  Shape dw{dy[1], x[1] / options.groups, options.kernel_size.height, options.kernel_size.width};
  checked_numel(dw);
  require_output_gradient(op, dy, output_shape(op, x, dw, options), x, dw);
  return {TensorSpec::of(dw, inputs[0].dtype)};
}

reference::Windows reference_windows(const Shape& x, const Shape& w, const Conv2dOptions& o) {
  return reference::windows_over(x, {w[2], w[3]}, o.stride, o.padding, o.dilation);
}

/// Calls f(x index, w index, y index) for every product of the convolution; row-major.
template <class F>
void for_each_product(const Shape& x, const Shape& w, const Conv2dOptions& options, F f) {
  const auto windows = reference_windows(x, w, options);
  const int64_t C = x[1], K = w[0], channels = C / options.groups, filters = K / options.groups;
  const int64_t places = windows.places(), taps = windows.taps(), count = windows.count();
  const auto inside = taps_inside(windows);
  for (int64_t n = 0; n < x[0]; ++n)
    for (int64_t k = 0; k < K; ++k)
      for (int64_t c = 0; c < channels; ++c)
        for (const auto& [window, tap, place] : inside)
          f((n * C + k / filters * channels + c) * places + place, (k * channels + c) * taps + tap,
            (n * K + k) * count + window);
}

std::vector<ReferenceTensor> reference_forward(ReferenceInputs inputs, const Attributes& attributes) {
  auto& options = attributes.as<Conv2dOptions>();
  auto &x = inputs[0], &w = inputs[1];
  const auto windows = reference_windows(x.shape, w.shape, options);
  auto y = ReferenceTensor::zeros(reference::windows_shape(x.shape, w.shape[0], windows));
  if (inputs.size() > 2 && inputs[2].defined) {
    const int64_t plane = y.shape[2] * y.shape[3];
    for (int64_t i = 0; i < y.shape.numel(); ++i) y.values[i] = inputs[2].values[i / plane % y.shape[1]];
  }
  for_each_product(x.shape, w.shape, options,
                   [&](int64_t i, int64_t j, int64_t o) { y.values[o] += x.values[i] * w.values[j]; });
  return {y};
}

std::vector<ReferenceTensor> reference_input_gradient(ReferenceInputs inputs, const Attributes& attributes) {
  auto& options = attributes.as<Conv2dInputGradientOptions>();
  auto &dy = inputs[0], &w = inputs[1];
  auto dx = ReferenceTensor::zeros(
      {dy.shape[0], w.shape[1] * options.groups, options.input_size.height, options.input_size.width});
  for_each_product(dx.shape, w.shape, options,
                   [&](int64_t i, int64_t j, int64_t o) { dx.values[i] += dy.values[o] * w.values[j]; });
  return {dx};
}

std::vector<ReferenceTensor> reference_weight_gradient(ReferenceInputs inputs, const Attributes& attributes) {
  auto& options = attributes.as<Conv2dWeightGradientOptions>();
  auto &x = inputs[0], &dy = inputs[1];
  auto dw = ReferenceTensor::zeros(
      {dy.shape[1], x.shape[1] / options.groups, options.kernel_size.height, options.kernel_size.width});
  for_each_product(x.shape, dw.shape, options,
                   [&](int64_t i, int64_t j, int64_t o) { dw.values[j] += x.values[i] * dy.values[o]; });
  return {dw};
}

std::vector<Tensor> gradient(const GradientContext& context) {
  auto& options = context.options<Conv2dOptions>();
  const TensorSpec &x = context.input_spec(0), &w = context.input_spec(1);
  std::vector<Tensor> gradients(3);
  if (context.needs(0))
    gradients[0] =
        conv2d_input_gradient(context.upstream(), context.input(1),
                              {options, {x.shape[2], x.shape[3]}, is_channels_last(x.shape, x.strides)});
  if (context.needs(1))
    gradients[1] =
        conv2d_weight_gradient(context.input(0), context.upstream(), {options, {w.shape[2], w.shape[3]}});
  if (context.needs(2)) gradients[2] = sum(context.upstream(), {0, 2, 3});
  return gradients;
}

/// dx is linear in dy and in w, and conv2d is what it is the transpose of.
std::vector<Tensor> gradient_of_input_gradient(const GradientContext& context) {
  const Conv2dOptions options = context.options<Conv2dInputGradientOptions>();
  const Shape& w = context.input_spec(1).shape;
  const Tensor upstream = context.upstream();
  std::vector<Tensor> gradients(2);
  if (context.needs(0)) gradients[0] = conv2d(upstream, context.input(1), {}, options);
  if (context.needs(1))
    gradients[1] = conv2d_weight_gradient(upstream, context.input(0), {options, {w[2], w[3]}});
  return gradients;
}

std::vector<Tensor> gradient_of_weight_gradient(const GradientContext& context) {
  const Conv2dOptions options = context.options<Conv2dWeightGradientOptions>();
  const TensorSpec& x = context.input_spec(0);
  const Tensor upstream = context.upstream();
  std::vector<Tensor> gradients(2);
  if (context.needs(0))
    gradients[0] =
        conv2d_input_gradient(context.input(1), upstream,
                              {options, {x.shape[2], x.shape[3]}, is_channels_last(x.shape, x.strides)});
  if (context.needs(1)) gradients[1] = conv2d(context.input(0), upstream, {}, options);
  return gradients;
}

/// A geometry under test.
struct Geometry {
  const char* label;
  Shape x, w;
  Conv2dOptions options;
  TestLayout layout = TestLayout::contiguous;
};

std::vector<Geometry> geometries() {
  using enum TestLayout;
  return {
      {"3x3", {2, 3, 7, 6}, {5, 3, 3, 3}, {}},
      {"one", {1, 1, 1, 1}, {1, 1, 1, 1}, {}},
      {"one channel", {3, 1, 9, 8}, {6, 1, 3, 3}, {}},
      {"padded", {2, 4, 5, 5}, {3, 4, 3, 3}, {.padding = 1}, channels_last},
      {"uneven padding", {2, 2, 4, 5}, {3, 2, 3, 2}, {.padding = {2, 0, 1, 3}}},
      {"strided", {2, 3, 8, 9}, {4, 3, 3, 2}, {.stride = {2, 3}, .padding = {1, 0, 0, 1}}},
      {"dilated", {1, 3, 9, 8}, {4, 3, 3, 3}, {.padding = 2, .dilation = {2, 3}}, channels_last},
      {"grouped", {2, 6, 6, 5}, {9, 2, 3, 3}, {.padding = 1, .groups = 3}},
      {"wide groups",
       {2, 10, 6, 5},
       {12, 5, 3, 3},
       {.stride = {2, 1}, .padding = 1, .groups = 2},
       channels_last},
      {"grouped channels_last", {2, 4, 6, 5}, {6, 2, 2, 3}, {.stride = 2, .groups = 2}, channels_last},
      {"depthwise", {2, 5, 6, 6}, {5, 1, 3, 3}, {.padding = 1, .groups = 5}, channels_last},
      {"depthwise, whole vectors", {2, 35, 7, 9}, {35, 1, 3, 3}, {.padding = 1, .groups = 35}, channels_last},
      {"depthwise strided",
       {2, 18, 9, 12},
       {18, 1, 3, 3},
       {.stride = 2, .padding = {0, 1, 1, 0}, .groups = 18},
       channels_last},
      {"depthwise of other windows",
       {1, 17, 9, 11},
       {17, 1, 5, 2},
       {.stride = {1, 3}, .padding = {2, 1, 3, 0}, .dilation = {1, 2}, .groups = 17},
       channels_last},
      {"depthwise of large windows", {1, 4, 6, 7}, {4, 1, 7, 7}, {.padding = 3, .groups = 4}, channels_last},
      {"1x1", {2, 9, 4, 5}, {7, 9, 1, 1}, {}, channels_last},
      {"whole image", {3, 4, 5, 4}, {10, 4, 5, 4}, {}},
      {"whole image channels_last", {2, 4, 3, 4}, {9, 4, 3, 4}, {}, channels_last},
      {"one channel channels_last", {2, 1, 5, 6}, {9, 1, 3, 3}, {}, channels_last},
      {"one filter", {2, 9, 5, 6}, {1, 9, 3, 3}, {}, channels_last},
      {"one row", {2, 9, 1, 7}, {9, 9, 1, 3}, {}, channels_last},
      {"one column", {2, 9, 7, 1}, {9, 9, 3, 1}, {}, channels_last},
      {"empty batch", {0, 3, 5, 5}, {2, 3, 3, 3}, {}},
      {"transposed", {3, 4, 6, 5}, {4, 4, 3, 3}, {.padding = 1}, transposed},
      {"sliced", {2, 3, 6, 7}, {3, 3, 2, 2}, {}, sliced},
      {"expanded", {2, 3, 5, 5}, {4, 3, 3, 3}, {}, expanded},
      {"odd tiles", {3, 8, 7, 6}, {17, 8, 3, 3}, {.padding = {2, 1, 0, 1}}},
      {"large windows", {2, 3, 8, 7}, {5, 3, 5, 5}, {.padding = {2, 1, 2, 3}}, channels_last},
      {"a row that no tile divides", {2, 3, 4, 13}, {33, 3, 3, 2}, {.padding = {1, 1, 0, 0}}, channels_last},
      {"one tile", {2, 9, 6, 6}, {8, 9, 3, 3}, {}, channels_last},
      {"taps that meet nothing", {4, 8, 1, 8}, {8, 8, 3, 3}, {.padding = {2, 1, 1, 1}}, channels_last},
      {"narrow tiles", {12, 8, 10, 6}, {8, 8, 3, 3}, {.padding = 1}, channels_last},
      {"fewer windows than filters",
       {2, 5, 4, 3},
       {33, 5, 3, 3},
       {.stride = {2, 1}, .padding = {1, 0, 1, 2}},
       channels_last},
      {"few windows of all places",
       {1, 17, 9, 7},
       {51, 17, 3, 3},
       {.padding = 1, .dilation = {2, 1}},
       channels_last},
      {"several tiles", {2, 17, 12, 11}, {70, 17, 3, 3}, {.padding = 1}, channels_last}};
}

std::vector<TestCase> cases() {
  std::vector<TestCase> list;
  for (const Geometry& g : geometries()) {
    const std::string label = g.label;
    TestInput x{g.x, {}, g.layout}, w{g.w}, b{{g.w[0]}}, none{};
    none.defined = false;
    list.push_back({label, {x, w, b}, Attributes::of(g.options)});
    if (label == "3x3" || label == "padded")
      list.push_back({label + " without bias", {x, w, none}, Attributes::of(g.options)});
    if (label == "depthwise" || label == "several tiles" || label == "fewer windows than filters") {
      TestCase with_nan{label + ", NaN", {x, w, b}, Attributes::of(g.options)};
      with_nan.inputs[0].fill.kind = TestFill::with_nan;
      for (TestInput& input : with_nan.inputs) input.differentiable = false;
      list.push_back(with_nan);
    }
  }
  list.push_back({"w transposed",
                  {{{2, 3, 5, 5}}, {{4, 3, 3, 2}, {}, TestLayout::transposed}, {{4}}},
                  Attributes::of(Conv2dOptions{})});
  return list;
}

std::vector<RefusedCall> refused_calls() {
  const TestInput x{{1, 2, 5, 5}}, w{{4, 2, 3, 3}};
  auto with = [&](const Conv2dOptions& options, std::vector<std::string> says) {
    return refuses<ShapeError>({x, w}, std::move(says), Attributes::of(options));
  };
  return {with({.stride = {0, 1}}, {"stride [0, 1]"}),
          with({.stride = {1, -1}}, {"stride [1, -1]"}),
          with({.stride = INT64_MAX}, {"stride"}),
          with({.padding = {-1, 0, 0, 0}}, {"padding [-1"}),
          with({.padding = INT64_MAX}, {"padding"}),
          with({.dilation = 0}, {"dilation [0, 0]"}),
          with({.dilation = INT64_MAX}, {"dilation"}),
          with({.dilation = kMostGeometry}, {"[4, 2, 3, 3]", "[1, 2, 5, 5]"}),
          with({.groups = 0}, {"groups", "0"}),
          with({.groups = -2}, {"groups", "-2"}),
          with({.groups = INT64_MAX}, {"groups"}),
          with({.groups = 3}, {"[1, 2, 5, 5]", "3 groups"}),
          refuses<ShapeError>({x, {{4, 2, 6, 3}}}, {"[4, 2, 6, 3]", "[1, 2, 5, 5]"}),
          refuses<ShapeError>({x, {{4, 2, 0, 3}}}, {"[4, 2, 0, 3]"}),
          refuses<ShapeError>({{{2, 5, 5}}, w}, {"x", "[2, 5, 5]"}),
          refuses<ShapeError>({x, w, {{3}}}, {"[3]", "[4]"}),
          refuses<DTypeError>({x, {.shape = w.shape, .dtype = {DType::f64}}}, {"conv2d", "f32", "f64"})};
}

std::vector<RefusedCall> input_gradient_refused_calls() {
  auto with = [](const Conv2dInputGradientOptions& options, std::vector<std::string> says) {
    return refuses<ShapeError>({{{1, 4, 3, 3}}, {{4, 2, 3, 3}}}, std::move(says), Attributes::of(options));
  };
  return {with({{.groups = INT64_MAX}, {5, 5}}, {"groups"}), with({{}, {-5, 5}}, {"negative"}),
          with({{}, {9, 5}}, {"[1, 4, 3, 3]", "[1, 2, 9, 5]"})};
}

std::vector<RefusedCall> weight_gradient_refused_calls() {
  auto with = [](Pair kernel_size, std::vector<std::string> says) {
    return refuses<ShapeError>({{{1, 2, 5, 5}}, {{1, 4, 3, 3}}}, std::move(says),
                               Attributes::of(Conv2dWeightGradientOptions{{}, kernel_size}));
  };
  return {with({2, 3}, {"[1, 4, 3, 3]"}), with({-3, 3}, {"negative"}), with(INT64_MAX, {"too many"})};
}

std::vector<TestCase> input_gradient_cases() {
  std::vector<TestCase> list;
  for (const Geometry& g : geometries()) {
    Conv2dInputGradientOptions options{g.options, {g.x[2], g.x[3]}, g.layout == TestLayout::channels_last};
    list.push_back(
        {g.label, {{output_shape("", g.x, g.w, g.options), {}, g.layout}, {g.w}}, Attributes::of(options)});
  }
  return list;
}

std::vector<TestCase> weight_gradient_cases() {
  std::vector<TestCase> list;
  for (const Geometry& g : geometries()) {
    Conv2dWeightGradientOptions options{g.options, {g.w[2], g.w[3]}};
    list.push_back({g.label,
                    {{g.x, {}, g.layout}, {output_shape("", g.x, g.w, g.options), {}, g.layout}},
                    Attributes::of(options)});
  }
  return list;
}

ErrorModel error(Specs inputs, const Attributes&) {
  const Shape& w = inputs[1].shape;
  return {ErrorModel::absolute_inputs, double(w[1] * w[2] * w[3] + 1)};
}

ErrorModel input_gradient_error(Specs inputs, const Attributes& attributes) {
  const Shape& w = inputs[1].shape;
  return {ErrorModel::absolute_inputs,
          double(w[0] / attributes.as<Conv2dInputGradientOptions>().groups * w[2] * w[3])};
}

ErrorModel weight_gradient_error(Specs inputs, const Attributes&) {
  const Shape& dy = inputs[1].shape;
  return {ErrorModel::absolute_inputs, double(dy[0] * dy[2] * dy[3] + 1)};
}

double operations(const Call& call) { return 2 * elements(call.output()) * filter_terms(call.input(1)); }
double input_gradient_operations(const Call& call) {
  return 2 * elements(call.input(0)) * filter_terms(call.input(1));
}

void register_gradients(Registry& registry) {
  registry.add({.name = "conv2d_input_gradient",
                .summary = "dx [N,C,H,W] of conv2d from dy [N,K,P,Q] and w [K,C/groups,R,S]",
                .options = &schema_of<Conv2dInputGradientOptions>(),
                .autocast = AutocastPolicy::low,
                .infer = infer_input_gradient,
                .reference = reference_input_gradient,
                .rows = rows_of_first,
                .gradient = gradient_of_input_gradient,
                .saves = {{Saved::input, 0}, {Saved::input, 1}},
                .cases = input_gradient_cases,
                .refused_calls = input_gradient_refused_calls,
                .error = input_gradient_error,
                .operations = input_gradient_operations});
  registry.add({.name = "conv2d_weight_gradient",
                .summary = "dw [K,C/groups,R,S] of conv2d from x [N,C,H,W] and dy [N,K,P,Q]",
                .options = &schema_of<Conv2dWeightGradientOptions>(),
                .autocast = AutocastPolicy::low,
                .infer = infer_weight_gradient,
                .reference = reference_weight_gradient,
                .rows = rows_of_operands({0, 1}),
                .sums = {0},
                .gradient = gradient_of_weight_gradient,
                .saves = {{Saved::input, 0}, {Saved::input, 1}},
                .cases = weight_gradient_cases,
                .refused_calls = weight_gradient_refused_calls,
                .error = weight_gradient_error,
                .operations = weight_gradient_operations});
}

std::vector<BenchCase> bench_cases(DeviceKind device) {
  const Attributes plain = Attributes::of(Conv2dOptions{});
  if (device == DeviceKind::simt)
    return {{"N=2 16→16 3×3 on 16²", {{2, 16, 16, 16}, {16, 16, 3, 3}, {16}}, plain, true},
            {"N=2 8→8 5×5 on 16²", {{2, 8, 16, 16}, {8, 8, 5, 5}, {8}}, plain, true}};
  return {{"N=32 1→64 3×3 on 28²", {{32, 1, 28, 28}, {64, 1, 3, 3}, {64}}, plain, true},
          {"N=32 64→128 3×3 on 13²", {{32, 64, 13, 13}, {128, 64, 3, 3}, {128}}, plain, true}};
}

}  // namespace

namespace ops {

void register_conv2d(Registry& registry) {
  registry.add({.name = "conv2d",
                .summary = "y[n,k,p,q] = Σ x[n,c,p·stride+r·dilation−padding,…]·w[k,c,r,s] + b[k] over c,r,s",
                .options = &schema_of<Conv2dOptions>(),
                .autocast = AutocastPolicy::low,
                .optional = {2},
                .infer = infer,
                .reference = reference_forward,
                .rows = rows_of_first,
                .gradient = gradient,
                .saves = {{Saved::input, 0}, {Saved::input, 1}},
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .operations = operations,
                .bench_cases = bench_cases});
  register_gradients(registry);
}

}  // namespace ops

const Op& conv2d_op() {
  static const Op& op = op_named("conv2d");
  return op;
}

Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor& b, const Conv2dOptions& options) {
  const Op& op = conv2d_op();
  return apply(op, {x, w, b}, Attributes::of(options))[0];
}

const Op& conv2d_input_gradient_op() {
  static const Op& op = op_named("conv2d_input_gradient");
  return op;
}

Tensor conv2d_input_gradient(const Tensor& dy, const Tensor& w, const Conv2dInputGradientOptions& options) {
  const Op& op = conv2d_input_gradient_op();
  return apply(op, {dy, w}, Attributes::of(options))[0];
}

const Op& conv2d_weight_gradient_op() {
  static const Op& op = op_named("conv2d_weight_gradient");
  return op;
}

Tensor conv2d_weight_gradient(const Tensor& x, const Tensor& dy, const Conv2dWeightGradientOptions& options) {
  const Op& op = conv2d_weight_gradient_op();
  return apply(op, {x, dy}, Attributes::of(options))[0];
}

}  // namespace treadle
