#include "treadle/ops/pool2d/avg_pool2d.h"

#include <vector>

#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/pool2d/pool2d_shape.h"
#include "treadle/ops/window_reference.h"

namespace treadle {
namespace {

Shape output_shape(const char* op, const Shape& x, const AvgPool2dOptions& o) {
  auto part = [](int64_t part, int64_t whole) { return part >= 0 && part <= whole; };
  require<ShapeError>(o.divisor >= 0, "{}: the divisor {} is negative", op, o.divisor);
  require<ShapeError>(part(o.uncounted.height, o.padding.bottom) && part(o.uncounted.width, o.padding.right),
                      "{}: of the padding [{}, {}] below and on the right [{}, {}] cannot be left uncounted",
                      op, o.padding.bottom, o.padding.right, o.uncounted.height, o.uncounted.width);
  return pool2d_output_shape(op, x, o.kernel, o.stride, o.padding, 1);
}

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  const Shape y = output_shape("avg_pool2d", inputs[0].shape, attributes.as<AvgPool2dOptions>());
  return {image_spec(y, is_channels_last(inputs[0].shape, inputs[0].strides), inputs[0].dtype)};
}

std::vector<TensorSpec> infer_gradient(Specs inputs, const Attributes& attributes) {
  const char* op = "avg_pool2d_gradient";
  auto& o = attributes.as<AvgPool2dGradientOptions>();
  const Shape& dy = inputs[0].shape;
  require<ShapeError>(dy.rank() == 4, "{}: dy has shape {}, expected 4 axes", op, dy);
  const Shape dx{dy[0], dy[1], o.input_size.height, o.input_size.width}, expected = output_shape(op, dx, o);
  require<ShapeError>(dy == expected, "{}: dy has shape {}, x {} expects {}", op, dy, dx, expected);
  return {image_spec(dx, o.channels_last, inputs[0].dtype)};
}

reference::Windows reference_windows(const Shape& x, const AvgPool2dOptions& o) {
  const Pair stride{o.stride.height == 0 ? o.kernel.height : o.stride.height,
                    o.stride.width == 0 ? o.kernel.width : o.stride.width};
  return reference::windows_over(x, o.kernel, stride, o.padding, 1);
}

/// How many taps of an axis' window the mean counts.
double counted_taps(const reference::WindowAxis& axis, int64_t window, bool count_include_pad,
                    int64_t uncounted) {
  double count = 0;
  for (int64_t tap = 0; tap < axis.taps; ++tap) {
    const int64_t place = window * axis.step + tap - axis.before;
    count += count_include_pad ? place < axis.size + axis.after - uncounted : place >= 0 && place < axis.size;
  }
  return count;
}

/// What the sum of each window is divided by.
std::vector<double> divisors(const reference::Windows& windows, const AvgPool2dOptions& o) {
  std::vector<double> divisors(size_t(windows.count()), double(o.divisor));
  const int64_t columns = windows.columns.windows();
  for (int64_t i = 0; i < windows.count() && o.divisor == 0; ++i)
    divisors[i] = counted_taps(windows.rows, i / columns, o.count_include_pad, o.uncounted.height) *
                  counted_taps(windows.columns, i % columns, o.count_include_pad, o.uncounted.width);
  return divisors;
}

std::vector<ReferenceTensor> reference_forward(ReferenceInputs inputs, const Attributes& attributes) {
  auto& options = attributes.as<AvgPool2dOptions>();
  auto& x = inputs[0];
  const auto windows = reference_windows(x.shape, options);
  const auto divisor = divisors(windows, options);
  auto y = ReferenceTensor::zeros(reference::windows_shape(x.shape, x.shape[1], windows));
  const int64_t count = windows.count(), places = windows.places();
  const auto inside = taps_inside(windows);
  for (int64_t plane = 0; plane < x.shape[0] * x.shape[1]; ++plane)
    for (const auto& [window, tap, place] : inside)
      y.values[plane * count + window] += x.values[plane * places + place] / divisor[window];
  return {y};
}

std::vector<ReferenceTensor> reference_gradient(ReferenceInputs inputs, const Attributes& attributes) {
  auto& options = attributes.as<AvgPool2dGradientOptions>();
  auto& dy = inputs[0];
  auto dx =
      ReferenceTensor::zeros({dy.shape[0], dy.shape[1], options.input_size.height, options.input_size.width});
  const auto windows = reference_windows(dx.shape, options);
  const auto divisor = divisors(windows, options);
  const int64_t count = windows.count(), places = windows.places();
  const auto inside = taps_inside(windows);
  for (int64_t plane = 0; plane < dx.shape[0] * dx.shape[1]; ++plane)
    for (const auto& [window, tap, place] : inside)
      dx.values[plane * places + place] += dy.values[plane * count + window] / divisor[window];
  return {dx};
}

std::vector<Tensor> gradient(const GradientContext& context) {
  const TensorSpec& x = context.input_spec(0);
  return {avg_pool2d_gradient(
      context.upstream(),
      {context.options<AvgPool2dOptions>(), {x.shape[2], x.shape[3]}, is_channels_last(x.shape, x.strides)})};
}

std::vector<Tensor> gradient_of_gradient(const GradientContext& context) {
  return {avg_pool2d(context.upstream(), context.options<AvgPool2dGradientOptions>())};
}

/// A geometry under test.
struct Geometry {
  const char* label;
  Shape x;
  AvgPool2dOptions options;
  TestLayout layout = TestLayout::contiguous;
};

std::vector<Geometry> geometries() {
  using enum TestLayout;
  const AvgPool2dOptions padded{.kernel = 3, .stride = 2, .padding = 1};
  AvgPool2dOptions inside_only = padded;
  inside_only.count_include_pad = false;
  return {{"2x2", {2, 3, 6, 8}, {}},
          {"2x2 channels_last", {2, 11, 6, 8}, {}, channels_last},
          {"odd size", {2, 3, 7, 5}, {}, channels_last},
          {"one", {1, 1, 1, 1}, {.kernel = 1}},
          {"padded", {2, 2, 7, 6}, padded},
          {"padded channels_last", {2, 5, 7, 6}, padded, channels_last},
          {"pad not counted", {2, 2, 7, 6}, inside_only},
          {"pad not counted channels_last", {1, 5, 6, 7}, inside_only, channels_last},
          {"uneven padding", {2, 2, 5, 6}, {.kernel = {3, 2}, .stride = 1, .padding = {2, 0, 1, 1}}},
          {"partly counted",
           {2, 3, 6, 7},
           {.kernel = 3, .stride = 2, .padding = {1, 1, 2, 2}, .uncounted = {1, 2}},
           channels_last},
          {"divisor", {2, 3, 6, 7}, {.kernel = 3, .stride = 2, .padding = 1, .divisor = 5}},
          {"gaps", {2, 2, 9, 8}, {.kernel = {1, 2}, .stride = 3}, channels_last},
          {"whole plane", {3, 4, 5, 4}, {.kernel = {5, 4}}},
          {"whole plane channels_last", {2, 11, 2, 2}, {}, channels_last},
          {"one channel channels_last", {2, 1, 5, 9}, {}, channels_last},
          {"one row", {2, 9, 1, 7}, {.kernel = {1, 2}}, channels_last},
          {"one column", {2, 9, 7, 1}, {.kernel = {2, 1}}, channels_last},
          {"empty batch", {0, 3, 4, 4}, {}},
          {"transposed", {3, 4, 6, 5}, {}, transposed},
          {"sliced", {2, 3, 6, 7}, {}, sliced},
          {"expanded", {2, 3, 6, 6}, {}, expanded}};
}

std::vector<TestCase> cases() {
  std::vector<TestCase> list;
  for (const Geometry& g : geometries())
    list.push_back({g.label, {{g.x, {}, g.layout}}, Attributes::of(g.options)});
  return list;
}

std::vector<RefusedCall> refused_calls() {
  auto with = [](const AvgPool2dOptions& options, std::vector<std::string> says) {
    return refuses<ShapeError>({{{1, 2, 5, 5}}}, std::move(says), Attributes::of(options));
  };
  return {with({.kernel = 0}, {"kernel [0, 0]"}), with({.kernel = 3, .padding = 3}, {"padding [3"}),
          with({.kernel = 3, .padding = 1, .uncounted = {1, 2}}, {"[1, 1]", "[1, 2]"}),
          with({.uncounted = {-1, 0}}, {"[-1, 0]"}), with({.divisor = -3}, {"divisor -3"})};
}

std::vector<RefusedCall> gradient_refused_calls() {
  return {refuses<ShapeError>({{{1, 2, 5, 5}}}, {"[1, 2, 5, 5]"},
                              Attributes::of(AvgPool2dGradientOptions{{}, 9}))};
}

std::vector<TestCase> gradient_cases() {
  std::vector<TestCase> list;
  for (const Geometry& g : geometries()) {
    AvgPool2dGradientOptions options{g.options, {g.x[2], g.x[3]}, g.layout == TestLayout::channels_last};
    list.push_back({g.label, {{output_shape("", g.x, g.options), {}, g.layout}}, Attributes::of(options)});
  }
  return list;
}

ErrorModel window_error(Pair kernel) {
  return {ErrorModel::absolute_inputs, double(kernel.height * kernel.width + 1)};
}

ErrorModel error(Specs, const Attributes& attributes) {
  return window_error(attributes.as<AvgPool2dOptions>().kernel);
}

ErrorModel gradient_error(Specs, const Attributes& attributes) {
  return window_error(attributes.as<AvgPool2dGradientOptions>().kernel);
}

/// Each place of a window is added once, forward and back.
template <class Options>
double operations(const Call& call) {
  const Pair kernel = call.options<Options>().kernel;
  const bool is_gradient = std::is_same_v<Options, AvgPool2dGradientOptions>;
  return elements(is_gradient ? call.input(0) : call.output()) * double(kernel.height * kernel.width);
}

}  // namespace

namespace ops {

void register_avg_pool2d(Registry& registry) {
  registry.add({.name = "avg_pool2d",
                .summary = "y[n,c,p,q] = the mean of x[n,c,h,w] in the window",
                .options = &schema_of<AvgPool2dOptions>(),
                .infer = infer,
                .reference = reference_forward,
                .rows = rows_of_first,
                .gradient = gradient,
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .operations = operations<AvgPool2dOptions>});
  registry.add({.name = "avg_pool2d_gradient",
                .summary = "dx [N,C,H,W] of avg_pool2d from dy [N,C,P,Q]",
                .options = &schema_of<AvgPool2dGradientOptions>(),
                .infer = infer_gradient,
                .reference = reference_gradient,
                .rows = rows_of_first,
                .gradient = gradient_of_gradient,
                .cases = gradient_cases,
                .refused_calls = gradient_refused_calls,
                .error = gradient_error,
                .operations = operations<AvgPool2dGradientOptions>});
}

}  // namespace ops

AvgPool2dOptions ceil_padding(AvgPool2dOptions options, const Shape& x) {
  output_shape("avg_pool2d", x, options);
  const Pair more = missing_padding(x, options.kernel, options.stride, options.padding, 1);
  options.padding.bottom += more.height, options.padding.right += more.width;
  options.uncounted = {options.uncounted.height + more.height, options.uncounted.width + more.width};
  return options;
}

Tensor avg_pool2d(const Tensor& x, const AvgPool2dOptions& options) {
  static const Op& op = op_named("avg_pool2d");
  return apply(op, {x}, Attributes::of(options))[0];
}

Tensor avg_pool2d_gradient(const Tensor& dy, const AvgPool2dGradientOptions& options) {
  static const Op& op = op_named("avg_pool2d_gradient");
  return apply(op, {dy}, Attributes::of(options))[0];
}

}  // namespace treadle
