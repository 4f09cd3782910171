#include "treadle/ops/pool2d/max_pool2d.h"

#include <cmath>
#include <limits>

#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/require_defined.h"
#include "treadle/ops/layout/index_select.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/pool2d/pool2d_shape.h"
#include "treadle/ops/window_reference.h"

namespace treadle {
namespace {

Shape output_shape(const char* op, const Shape& x, const MaxPool2dOptions& o) {
  const Shape y = pool2d_output_shape(op, x, o.kernel, o.stride, o.padding, o.dilation);
  require<ShapeError>(x[2] <= INT32_MAX / x[3],
                      "{}: x has shape {}, whose planes are too large for i32 positions", op, x);
  return y;
}

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  const Shape y = output_shape("max_pool2d", inputs[0].shape, attributes.as<MaxPool2dOptions>());
  const bool channels_last = is_channels_last(inputs[0].shape, inputs[0].strides);
  return {image_spec(y, channels_last, inputs[0].dtype), image_spec(y, channels_last, DType::i32)};
}

std::vector<TensorSpec> infer_gradient(Specs inputs, const Attributes& attributes) {
  const char* op = "max_pool2d_gradient";
  auto& o = attributes.as<MaxPool2dGradientOptions>();
  const Shape &dy = inputs[0].shape, &positions = inputs[1].shape;
  require<ShapeError>(dy.rank() == 4, "{}: dy has shape {}, expected 4 axes", op, dy);
  const Shape dx{dy[0], dy[1], o.input_size.height, o.input_size.width}, expected = output_shape(op, dx, o);
  require<ShapeError>(dy == expected && positions == expected,
                      "{}: dy has shape {} and positions {}, x {} expects {}", op, dy, positions, dx,
                      expected);
  require<DTypeError>(inputs[1].dtype == DType::i32, "{}: positions are {}, expected i32", op,
                      name_of(inputs[1].dtype));
  return {image_spec(dx, o.channels_last, inputs[0].dtype)};
}

reference::Windows reference_windows(const Shape& x, const MaxPool2dOptions& o) {
  const Pair stride{o.stride.height == 0 ? o.kernel.height : o.stride.height,
                    o.stride.width == 0 ? o.kernel.width : o.stride.width};
  return reference::windows_over(x, o.kernel, stride, o.padding, o.dilation);
}

std::vector<ReferenceTensor> reference_forward(ReferenceInputs inputs, const Attributes& attributes) {
  auto& x = inputs[0];
  const auto windows = reference_windows(x.shape, attributes.as<MaxPool2dOptions>());
  auto y = ReferenceTensor::zeros(reference::windows_shape(x.shape, x.shape[1], windows)), positions = y;
  std::fill(y.values.begin(), y.values.end(), -std::numeric_limits<double>::infinity());
  std::fill(positions.values.begin(), positions.values.end(), -1);
  const int64_t count = windows.count(), places = windows.places();
  const auto inside = taps_inside(windows);
  for (int64_t plane = 0; plane < x.shape[0] * x.shape[1]; ++plane)
    for (const auto& [window, tap, place] : inside) {
      const double value = x.values[plane * places + place];
      double &best = y.values[plane * count + window], &position = positions.values[plane * count + window];
      if (position >= 0 && (std::isnan(best) || value <= best)) continue;
      best = value, position = double(place);
    }
  return {y, positions};
}

std::vector<ReferenceTensor> reference_gradient(ReferenceInputs inputs, const Attributes& attributes) {
  auto& options = attributes.as<MaxPool2dGradientOptions>();
  auto &dy = inputs[0], &positions = inputs[1];
  auto dx =
      ReferenceTensor::zeros({dy.shape[0], dy.shape[1], options.input_size.height, options.input_size.width});
  const auto windows = reference_windows(dx.shape, options);
  const int64_t count = windows.count(), places = windows.places();
  const auto inside = taps_inside(windows);
  for (int64_t plane = 0; plane < dx.shape[0] * dx.shape[1]; ++plane)
    for (const auto& [window, tap, place] : inside) {
      const int64_t i = plane * count + window;
      if (positions.values[i] == double(place)) dx.values[plane * places + place] += dy.values[i];
    }
  return {dx};
}

std::vector<Tensor> gradient(const GradientContext& context) {
  const TensorSpec& x = context.input_spec(0);
  return {max_pool2d_gradient(
      context.upstream(), context.output(1),
      {context.options<MaxPool2dOptions>(), {x.shape[2], x.shape[3]}, is_channels_last(x.shape, x.strides)})};
}

/// The elements at the positions.
std::vector<Tensor> gradient_of_gradient(const GradientContext& context) {
  const Shape& y = context.input_spec(0).shape;
  const Tensor upstream = context.upstream();
  const int64_t planes = y[0] * y[1];
  const Tensor of_planes = reshape(upstream, {planes, upstream.size(2) * upstream.size(3)});
  return {reshape(elements_of_rows(of_planes, reshape(context.input(1), {planes, y[2] * y[3]})), y),
          Tensor()};
}

/// A geometry under test.
struct Geometry {
  const char* label;
  Shape x;
  MaxPool2dOptions options;
  TestLayout layout = TestLayout::contiguous;
};

std::vector<Geometry> geometries() {
  using enum TestLayout;
  return {{"2x2", {2, 3, 6, 8}, {}},
          {"2x2 channels_last", {2, 11, 6, 8}, {}, channels_last},
          {"odd size", {2, 3, 7, 37}, {}},
          {"odd size channels_last", {1, 19, 7, 5}, {}, channels_last},
          {"one", {1, 1, 1, 1}, {.kernel = 1}},
          {"overlapping", {2, 2, 7, 23}, {.kernel = 3, .stride = 2, .padding = 1}},
          {"overlapping channels_last",
           {2, 9, 7, 6},
           {.kernel = 3, .stride = {1, 2}, .padding = 1},
           channels_last},
          {"quads of channels", {2, 12, 7, 6}, {.kernel = 3, .stride = 2, .padding = 1}, channels_last},
          {"gaps", {2, 2, 9, 8}, {.kernel = {1, 2}, .stride = 3}, channels_last},
          {"uneven padding", {2, 2, 5, 6}, {.kernel = {3, 2}, .stride = 1, .padding = {2, 0, 1, 1}}},
          {"dilated", {1, 2, 8, 9}, {.kernel = 2, .stride = 1, .padding = 1, .dilation = {3, 2}}},
          {"whole plane", {3, 4, 5, 4}, {.kernel = {5, 4}}},
          {"whole plane channels_last", {2, 11, 2, 2}, {}, channels_last},
          {"one channel channels_last", {2, 1, 5, 9}, {}, channels_last},
          {"one row", {2, 9, 1, 7}, {.kernel = {1, 2}}, channels_last},
          {"one column", {2, 9, 7, 1}, {.kernel = {2, 1}}, channels_last},
          {"empty batch", {0, 3, 4, 4}, {}},
          {"transposed", {3, 4, 6, 5}, {}, transposed},
          {"sliced", {2, 3, 6, 7}, {}, sliced}};
}

std::vector<TestCase> cases() {
  std::vector<TestCase> list;
  for (const Geometry& g : geometries())
    list.push_back({g.label, {{g.x, {}, g.layout}}, Attributes::of(g.options)});
  return list;
}

std::vector<RefusedCall> refused_calls() {
  auto with = [](const MaxPool2dOptions& options, std::vector<std::string> says) {
    return refuses<ShapeError>({{{1, 2, 5, 5}}}, std::move(says), Attributes::of(options));
  };
  return {
      with({.kernel = {0, 2}}, {"kernel [0, 2]"}), with({.kernel = 6}, {"[6, 6]", "[1, 2, 5, 5]"}),
      with({.kernel = INT64_MAX}, {"kernel"}),     with({.stride = -1}, {"stride [-1, -1]"}),
      with({.stride = INT64_MAX}, {"stride"}),     with({.padding = 2}, {"padding [2", "[2, 2]"}),
      with({.padding = -1}, {"padding [-1"}),      with({.dilation = 0}, {"dilation [0, 0]"}),
      with({.dilation = INT64_MAX}, {"dilation"}), with({.dilation = kMostGeometry}, {"[1, 2, 5, 5]"}),
      refuses<ShapeError>({{{2, 3}}}, {"[2, 3]"}), refuses<ShapeError>({{{1, 2, 0, 5}}}, {"[1, 2, 0, 5]"})};
}

std::vector<RefusedCall> gradient_refused_calls() {
  const TestInput dy{{1, 2, 5, 5}}, positions{.shape = dy.shape, .dtype = {DType::i32}};
  auto with = [](Pair kernel, Pair input_size) {
    return Attributes::of(MaxPool2dGradientOptions{{.kernel = kernel}, input_size});
  };
  return {refuses<ShapeError>({dy, positions}, {"[1, 2, 5, 5]"}, with(2, 9)),
          refuses<DTypeError>({dy, dy}, {"f32", "i32"}, with(1, 5))};
}

std::vector<TestCase> gradient_cases() {
  std::vector<TestCase> list;
  for (const Geometry& g : geometries()) {
    const Shape y = output_shape("", g.x, g.options);
    TestInput positions{y, {TestFill::integers, -1, double(g.x[2] * g.x[3])}, g.layout, {DType::i32}};
    positions.differentiable = false;
    MaxPool2dGradientOptions options{g.options, {g.x[2], g.x[3]}, g.layout == TestLayout::channels_last};
    TestInput dy{y, {}, g.layout};
    dy.differentiable = false;  // some positions lie outside of their windows, as a result's never do
    list.push_back({g.label, {dy, positions}, Attributes::of(options)});
  }
  const TestInput one_window{{2, 3, 1, 1}};
  TestInput anywhere{one_window.shape, {TestFill::integers, 0, 29}, TestLayout::contiguous, {DType::i32}};
  list.push_back(
      {"one window", {one_window, anywhere}, Attributes::of(MaxPool2dGradientOptions{{{5, 6}}, {5, 6}})});
  return list;
}

/// A place collects at most one value per window that holds it.
ErrorModel gradient_error(Specs, const Attributes& attributes) {
  const Pair kernel = attributes.as<MaxPool2dGradientOptions>().kernel;
  return {ErrorModel::absolute_inputs, double(kernel.height * kernel.width)};
}

/// Each place of a window is compared once.
double operations(const Call& call) {
  const Pair kernel = call.options<MaxPool2dOptions>().kernel;
  return elements(call.output()) * double(kernel.height * kernel.width);
}

std::vector<BenchCase> bench_cases(DeviceKind device) {
  const int64_t images = device == DeviceKind::simt ? 2 : 128;
  return {{fmt::format("N={} 32 channels of 28²", images),
           {{images, 32, 28, 28}},
           Attributes::of(MaxPool2dOptions{}),
           true}};
}

}  // namespace

namespace ops {

void register_max_pool2d(Registry& registry) {
  registry.add({.name = "max_pool2d",
                .summary = "y[n,c,p,q] = the largest x[n,c,h,w] in the window, and its position h·W + w",
                .options = &schema_of<MaxPool2dOptions>(),
                .infer = infer,
                .reference = reference_forward,
                .rows = rows_of_first,
                .gradient = gradient,
                .saves = {{Saved::output, 1}},
                .not_differentiable = {1},
                .cases = cases,
                .refused_calls = refused_calls,
                .operations = operations,
                .bench_cases = bench_cases});
  registry.add({.name = "max_pool2d_gradient",
                .summary = "dx [N,C,H,W] of max_pool2d from dy and the positions [N,C,P,Q]",
                .options = &schema_of<MaxPool2dGradientOptions>(),
                .infer = infer_gradient,
                .reference = reference_gradient,
                .rows = rows_of_operands({0, 1}),
                .gradient = gradient_of_gradient,
                .saves = {{Saved::input, 1}},
                .cases = gradient_cases,
                .refused_calls = gradient_refused_calls,
                .error = gradient_error,
                .operations = for_each_of_input(0, 1)});
}

}  // namespace ops

MaxPool2dOptions ceil_padding(MaxPool2dOptions options, const Shape& x) {
  output_shape("max_pool2d", x, options);
  const Pair more = missing_padding(x, options.kernel, options.stride, options.padding, options.dilation);
  options.padding.bottom += more.height, options.padding.right += more.width;
  return options;
}

namespace {

/// One beside the other, the windows of an axis that is cut into `count`: all as long as the longest, shorter
/// ones with their last place again.
Tensor windows_apart(const Tensor& x, int axis, int64_t count) {
  const int64_t extent = x.size(axis);
  auto first = [&](int64_t i) { return i * extent / count; };
  auto last = [&](int64_t i) { return ((i + 1) * extent - 1) / count; };
  int64_t length = 0;
  for (int64_t i = 0; i < count; ++i) length = std::max(length, last(i) - first(i) + 1);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t tap = 0; tap < length; ++tap) places.push_back(std::min(first(i) + tap, last(i)));
  const Shape shape{int64_t(places.size())};
  return index_select(x, axis, Tensor::from(std::span<const int64_t>(places), shape, x.device()));
}

}  // namespace

Tensor adaptive_max_pool2d(const Tensor& x, Pair size) {
  require_defined("adaptive_max_pool2d", x, 1);
  require<ShapeError>(x.rank() == 4 && x.size(2) > 0 && x.size(3) > 0 && size.height > 0 && size.width > 0,
                      "adaptive_max_pool2d: x has shape {}, expected images to be cut into [{}, {}] windows",
                      x.shape(), size.height, size.width);
  Tensor windows = x;
  if (x.size(2) % size.height != 0) windows = windows_apart(windows, 2, size.height);
  if (x.size(3) % size.width != 0) windows = windows_apart(windows, 3, size.width);
  return max_pool2d(windows, {.kernel = {windows.size(2) / size.height, windows.size(3) / size.width}});
}

const Op& max_pool2d_op() {
  static const Op& op = op_named("max_pool2d");
  return op;
}

MaxPool2dResult max_pool2d_with_positions(const Tensor& x, const MaxPool2dOptions& options) {
  const Op& op = max_pool2d_op();
  auto outputs = apply(op, {x}, Attributes::of(options));
  return {outputs[0], outputs[1]};
}

Tensor max_pool2d(const Tensor& x, const MaxPool2dOptions& options) {
  return max_pool2d_with_positions(x, options).y;
}

Tensor max_pool2d_gradient(const Tensor& dy, const Tensor& positions,
                           const MaxPool2dGradientOptions& options) {
  static const Op& op = op_named("max_pool2d_gradient");
  return apply(op, {dy, positions}, Attributes::of(options))[0];
}

}  // namespace treadle
