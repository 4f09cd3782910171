#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d.h"

#include <array>
#include <cmath>
#include <limits>

#include "treadle/graph/registry.h"
#include "treadle/ops/conv2d/conv2d.h"
#include "treadle/ops/conv2d/conv2d_cost.h"
#include "treadle/ops/pool2d/pool2d_shape.h"
#include "treadle/ops/window_reference.h"

namespace treadle {
namespace {

Attributes convolution(const Conv2dOptions& options) { return Attributes::of(options); }

/// Shape of the convolution's result; the rules are those of conv2d. `b` may be left out.
Shape result_shape(const TensorSpec& x, const TensorSpec& w, const TensorSpec& b,
                   const Conv2dOptions& options) {
  const std::array inputs{x, w, b};
  return conv2d_op().infer(inputs, convolution(options))[0].shape;
}

TensorSpec left_out() { return {{}, {}, DType::f32, false}; }

Shape pooled_shape(const char* op, const Shape& result, const Conv2dMaxPool2dOptions& o) {
  require<ShapeError>(o.pool_kernel.height <= kMostPooledPlaces && o.pool_kernel.width <= kMostPooledPlaces &&
                          o.pool_kernel.height * o.pool_kernel.width <= kMostPooledPlaces,
                      "{}: the pooling window [{}, {}] has more than {} places", op, o.pool_kernel.height,
                      o.pool_kernel.width, kMostPooledPlaces);
  return pool2d_output_shape(op, result, o.pool_kernel, o.pool_stride, o.pool_padding, 1);
}

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  const char* op = "conv2d_max_pool2d";
  require_same_dtype(op, inputs);
  auto& options = attributes.as<Conv2dMaxPool2dOptions>();
  const TensorSpec& x = inputs[0];
  const Shape result = result_shape(x, inputs[1], inputs.size() > 2 ? inputs[2] : left_out(), options);
  const Shape y = pooled_shape(op, result, options);
  const bool channels_last = is_channels_last(x.shape, x.strides) && !options.row_major;
  std::vector<TensorSpec> results{image_spec(y, channels_last, x.dtype)};
  if (options.choice) results.push_back(image_spec(y, channels_last, DType::u8));
  return results;
}

/// Throws unless dy and choice have the shape that x and w lead to.
void require_pooled(const char* op, const TensorSpec& dy, const TensorSpec& choice, const TensorSpec& x,
                    const TensorSpec& w, const Conv2dMaxPool2dOptions& options) {
  const Shape expected = pooled_shape(op, result_shape(x, w, left_out(), options), options);
  require<ShapeError>(dy.shape == expected && choice.shape == expected,
                      "{}: dy has shape {} and choice {}, x {} and w {} expect {}", op, dy.shape,
                      choice.shape, x.shape, w.shape, expected);
  require<DTypeError>(choice.dtype == DType::u8, "{}: choice is {}, expected u8", op, name_of(choice.dtype));
}

void require_rank4(const char* op, const char* name, const Shape& shape) {
  require<ShapeError>(shape.rank() == 4, "{}: {} has shape {}, expected 4 axes", op, name, shape);
}

/// Before shapes are computed with them; the other options are checked by conv2d.
void require_groups(const char* op, const Conv2dOptions& options) {
  require<ShapeError>(options.groups >= 1 && options.groups <= kMostGeometry,
                      "{}: groups must be from 1 to {}, not {}", op, kMostGeometry, options.groups);
}

std::vector<TensorSpec> infer_input_gradient(Specs inputs, const Attributes& attributes) {
  const char* op = "conv2d_max_pool2d_input_gradient";
  auto& options = attributes.as<Conv2dMaxPool2dInputGradientOptions>();
  const TensorSpec &dy = inputs[0], &choice = inputs[1], &w = inputs[2];
  require_same_dtype(op, std::array{dy, w});
  require_rank4(op, "dy", dy.shape);
  require_rank4(op, "w", w.shape);
  require_groups(op, options);
  const Shape dx{dy.shape[0], w.shape[1] * options.groups, options.input_size.height,
                 options.input_size.width};
  require_pooled(op, dy, choice, TensorSpec::of(dx, dy.dtype), w, options);
  return {image_spec(dx, options.channels_last, dy.dtype)};
}

std::vector<TensorSpec> infer_weight_gradient(Specs inputs, const Attributes& attributes) {
  const char* op = "conv2d_max_pool2d_weight_gradient";
  auto& options = attributes.as<Conv2dMaxPool2dWeightGradientOptions>();
  const TensorSpec &x = inputs[0], &dy = inputs[1], &choice = inputs[2];
  require_same_dtype(op, std::array{x, dy});
  require_rank4(op, "x", x.shape);
  require_rank4(op, "dy", dy.shape);
  require_groups(op, options);
  const Shape dw{dy.shape[1], x.shape[1] / options.groups, options.kernel_size.height,
                 options.kernel_size.width};
  const TensorSpec w = TensorSpec::of(dw, x.dtype);
  require_pooled(op, dy, choice, x, w, options);
  return {w, TensorSpec::of({dw[0]}, x.dtype)};
}

/// Pooling windows over the convolution's result.
reference::Windows pooling_windows(const Shape& result, const Conv2dMaxPool2dOptions& o) {
  const Pair stride{o.pool_stride.height == 0 ? o.pool_kernel.height : o.pool_stride.height,
                    o.pool_stride.width == 0 ? o.pool_kernel.width : o.pool_stride.width};
  return reference::windows_over(result, o.pool_kernel, stride, o.pool_padding, 1);
}

/// The convolution's own windows.
reference::Windows convolution_windows(const Shape& x, const Shape& w, const Conv2dOptions& o) {
  return reference::windows_over(x, {w[2], w[3]}, o.stride, o.padding, o.dilation);
}

struct Largest {
  double value = -std::numeric_limits<double>::infinity();
  int64_t tap = kNoChoice;
};

/// The first largest place of a window; value_at(place) is the convolution's result.
template <class ValueAt>
Largest largest_in_window(const reference::Windows& pool, int64_t window, ValueAt value_at) {
  Largest best;
  for (int64_t tap = 0; tap < pool.taps(); ++tap) {
    const int64_t place = pool.place(window, tap);
    if (place < 0) continue;
    const double value = value_at(place);
    if (best.tap == kNoChoice || value > best.value || (std::isnan(value) && !std::isnan(best.value)))
      best = {value, tap};
  }
  return best;
}

std::vector<ReferenceTensor> reference_forward(ReferenceInputs inputs, const Attributes& attributes) {
  auto& options = attributes.as<Conv2dMaxPool2dOptions>();
  const ReferenceTensor result = conv2d_op().reference(inputs, convolution(options))[0];
  const auto pool = pooling_windows(result.shape, options);
  auto y = ReferenceTensor::zeros(reference::windows_shape(result.shape, result.shape[1], pool)), choice = y;
  const int64_t windows = pool.count();
  for (int64_t i = 0; i < y.shape.numel(); ++i) {
    const double* plane = result.values.data() + i / windows * pool.places();
    const Largest best = largest_in_window(pool, i % windows, [&](int64_t place) { return plane[place]; });
    const bool closed = options.relu && !(best.value > 0);
    y.values[i] = closed && !std::isnan(best.value) ? 0 : best.value;
    choice.values[i] = double(closed ? kNoChoice : best.tap);
  }
  if (!options.choice) return {y};
  return {y, choice};
}

/// The convolution's result at filter k and a place of image n.
double result_at(const reference::Windows& windows, ReferenceInputs inputs, int64_t groups, int64_t n,
                 int64_t k, int64_t place) {
  const Shape &x = inputs[0].shape, &w = inputs[1].shape;
  const int64_t channels = w[1], first = k / (w[0] / groups) * channels;
  double sum = inputs.size() > 2 && inputs[2].defined ? inputs[2].values[k] : 0;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t tap = 0; tap < windows.taps(); ++tap)
      if (const int64_t from = windows.place(place, tap); from >= 0)
        sum += inputs[0].values[(n * x[1] + first + c) * windows.places() + from] *
               inputs[1].values[(k * channels + c) * windows.taps() + tap];
  return sum;
}

/// A choice is right when the place it names is a largest one as far as the error allows, or when ReLU may be
/// closed as far as the error allows. Where the largest is NaN any place is as good.
bool accepts_choice(ReferenceInputs inputs, const Attributes& attributes, int, int64_t element, double choice,
                    double allowed) {
  auto& options = attributes.as<Conv2dMaxPool2dOptions>();
  const Shape &x = inputs[0].shape, &w = inputs[1].shape;
  const auto conv = convolution_windows(x, w, options);
  const auto pool = pooling_windows(reference::windows_shape(x, w[0], conv), options);
  const int64_t window = element % pool.count(), plane = element / pool.count();
  auto value_at = [&](int64_t place) {
    return result_at(conv, inputs, options.groups, plane / w[0], plane % w[0], place);
  };
  const double largest = largest_in_window(pool, window, value_at).value;
  if (choice == kNoChoice) return options.relu && !(largest > allowed);
  const int64_t place = choice < double(pool.taps()) ? pool.place(window, int64_t(choice)) : -1;
  if (place < 0 || (options.relu && !(largest >= -allowed))) return false;
  return std::isnan(largest) || value_at(place) >= largest - 2 * allowed;
}

/// The gradient of the convolution's result: each dy at the place that was chosen, if it is one.
ReferenceTensor result_gradient(const Shape& result, const Conv2dMaxPool2dOptions& options,
                                const ReferenceTensor& dy, const ReferenceTensor& choice) {
  const auto pool = pooling_windows(result, options);
  auto gradient = ReferenceTensor::zeros(result);
  for (int64_t i = 0; i < dy.shape.numel(); ++i) {
    if (choice.values[i] >= double(pool.taps())) continue;
    const int64_t place = pool.place(i % pool.count(), int64_t(choice.values[i]));
    if (place >= 0) gradient.values[i / pool.count() * pool.places() + place] += dy.values[i];
  }
  return gradient;
}

ReferenceTensor result_gradient(const Shape& x, const Shape& w, const Conv2dMaxPool2dOptions& options,
                                const ReferenceTensor& dy, const ReferenceTensor& choice) {
  return result_gradient(reference::windows_shape(x, w[0], convolution_windows(x, w, options)), options, dy,
                         choice);
}

std::vector<ReferenceTensor> reference_input_gradient(ReferenceInputs inputs, const Attributes& attributes) {
  auto& options = attributes.as<Conv2dMaxPool2dInputGradientOptions>();
  auto &dy = inputs[0], &w = inputs[2];
  const Shape x{dy.shape[0], w.shape[1] * options.groups, options.input_size.height,
                options.input_size.width};
  const std::array operands{result_gradient(x, w.shape, options, dy, inputs[1]), w};
  return conv2d_input_gradient_op().reference(
      operands, Attributes::of(Conv2dInputGradientOptions{options, options.input_size, false}));
}

std::vector<ReferenceTensor> reference_weight_gradient(ReferenceInputs inputs, const Attributes& attributes) {
  auto& options = attributes.as<Conv2dMaxPool2dWeightGradientOptions>();
  auto &x = inputs[0], &dy = inputs[1];
  const Shape w{dy.shape[1], x.shape[1] / options.groups, options.kernel_size.height,
                options.kernel_size.width};
  const std::array operands{x, result_gradient(x.shape, w, options, dy, inputs[2])};
  auto dw = conv2d_weight_gradient_op().reference(
      operands, Attributes::of(Conv2dWeightGradientOptions{options, options.kernel_size}))[0];
  auto db = ReferenceTensor::zeros({w[0]});
  const int64_t plane = operands[1].shape[2] * operands[1].shape[3];
  for (size_t i = 0; i < operands[1].values.size(); ++i)
    db.values[int64_t(i) / plane % w[0]] += operands[1].values[i];
  return {dw, db};
}

std::vector<Tensor> gradient(const GradientContext& context) {
  auto& options = context.options<Conv2dMaxPool2dOptions>();
  const TensorSpec &x = context.input_spec(0), &w = context.input_spec(1);
  require<AutogradError>(options.choice, "conv2d_max_pool2d: without the option 'choice' it has no gradient");
  const Tensor dy = context.upstream(), choice = context.output(1);
  std::vector<Tensor> gradients(3);
  if (context.needs(0))
    gradients[0] = conv2d_max_pool2d_input_gradient(
        dy, choice, context.input(1),
        {options, {x.shape[2], x.shape[3]}, is_channels_last(x.shape, x.strides)});
  if (context.needs(1) || context.needs(2)) {
    auto [dw, db] =
        conv2d_max_pool2d_weight_gradient(context.input(0), dy, choice, {options, {w.shape[2], w.shape[3]}});
    gradients[1] = dw, gradients[2] = db;
  }
  return gradients;
}

/// The options of a case that concern the pooling.
struct Pooling {
  Pair kernel = 2, stride = 0;
  Pads padding = 0;
  bool relu = true, row_major = false, choice = true;
};

/// A geometry under test.
struct Geometry {
  const char* label;
  Shape x, w;
  Conv2dOptions conv;
  Pooling pool;
  TestLayout layout = TestLayout::contiguous;

  Conv2dMaxPool2dOptions options() const {
    return {conv, pool.kernel, pool.stride, pool.padding, pool.relu, pool.row_major, pool.choice};
  }
};

std::vector<Geometry> geometries() {
  using enum TestLayout;
  return {
      {"3x3", {2, 3, 8, 8}, {5, 3, 3, 3}, {}, {}},
      {"3x3 channels_last", {2, 3, 8, 8}, {5, 3, 3, 3}, {}, {}, channels_last},
      {"row_major of channels_last", {2, 5, 7, 9}, {17, 5, 3, 3}, {}, {.row_major = true}, channels_last},
      {"one pixel", {1, 1, 1, 1}, {1, 1, 1, 1}, {}, {.kernel = 1}},
      {"one pixel of many", {1, 17, 4, 4}, {5, 17, 3, 3}, {}, {}, channels_last},
      {"one filter", {2, 5, 6, 7}, {1, 5, 3, 3}, {}, {}, channels_last},
      {"one row", {2, 9, 1, 9}, {9, 9, 1, 3}, {}, {.kernel = {1, 2}}, channels_last},
      {"one column", {2, 9, 9, 1}, {9, 9, 3, 1}, {}, {.kernel = {2, 1}}, channels_last},
      {"one channel", {3, 1, 12, 11}, {9, 1, 3, 3}, {}, {}},
      {"one channel, many filters", {2, 1, 9, 30}, {64, 1, 3, 3}, {}, {}, channels_last},
      {"odd sizes", {1, 5, 9, 11}, {3, 5, 3, 3}, {.padding = {1, 0, 2, 1}}, {}, channels_last},
      {"padded", {2, 17, 6, 7}, {5, 17, 3, 3}, {.padding = 1}, {}, channels_last},
      {"padded wide", {1, 3, 2, 3}, {5, 3, 3, 3}, {.padding = 3}, {}, channels_last},
      {"without relu", {2, 4, 7, 8}, {6, 4, 3, 3}, {}, {.relu = false}, channels_last},
      {"padded row_major", {2, 6, 7, 9}, {6, 6, 3, 3}, {.padding = 1}, {}},
      {"1x1", {2, 9, 6, 5}, {7, 9, 1, 1}, {}, {}, channels_last},
      {"2x2", {2, 3, 7, 7}, {7, 3, 2, 2}, {}, {}, channels_last},
      {"5x5", {2, 1, 14, 14}, {6, 1, 5, 5}, {}, {}},
      {"5x5 many channels", {2, 6, 12, 12}, {16, 6, 5, 5}, {}, {}, channels_last},
      {"strided", {2, 3, 12, 13}, {4, 3, 3, 2}, {.stride = {2, 3}, .padding = {1, 0, 0, 1}}, {}},
      {"strided 5x5", {1, 5, 15, 15}, {17, 5, 5, 5}, {.stride = 2, .padding = 2}, {}, channels_last},
      {"dilated", {1, 3, 11, 10}, {4, 3, 3, 3}, {.padding = 2, .dilation = {2, 3}}, {}, channels_last},
      {"grouped", {2, 6, 8, 7}, {9, 2, 3, 3}, {.padding = 1, .groups = 3}, {}},
      {"grouped channels_last", {2, 4, 8, 7}, {6, 2, 3, 3}, {.groups = 2}, {}, channels_last},
      {"overlapping pool",
       {2, 3, 9, 10},
       {5, 3, 3, 3},
       {},
       {.kernel = 3, .stride = 2, .padding = 1},
       channels_last},
      {"overlapping pool row_major",
       {2, 1, 9, 10},
       {5, 1, 3, 3},
       {},
       {.kernel = 3, .stride = 2, .padding = {1, 0, 1, 2}, .relu = false}},
      {"pool with gaps", {1, 3, 12, 11}, {3, 3, 3, 3}, {}, {.kernel = {1, 2}, .stride = 3}},
      {"pool 3x2", {1, 4, 11, 11}, {8, 4, 3, 3}, {}, {.kernel = {3, 2}}, channels_last},
      {"whole plane", {2, 3, 8, 7}, {4, 3, 3, 3}, {}, {.kernel = {6, 5}}, channels_last},
      {"without pool", {2, 3, 6, 7}, {4, 3, 3, 3}, {}, {.kernel = 1}, channels_last},
      {"empty batch", {0, 3, 6, 6}, {2, 3, 3, 3}, {}, {}},
      {"transposed", {3, 6, 8, 7}, {4, 6, 3, 3}, {.padding = 1}, {}, transposed},
      {"sliced", {2, 5, 6, 7}, {3, 5, 3, 3}, {}, {}, sliced},
      {"expanded", {2, 5, 6, 6}, {4, 5, 3, 3}, {}, {}, expanded},
      {"64 channels", {1, 64, 6, 7}, {17, 64, 3, 3}, {}, {}, channels_last},
      {"130 channels", {1, 130, 5, 6}, {130, 130, 3, 3}, {.padding = {0, 1, 1, 0}}, {}, channels_last},
      {"130 channels row_major", {1, 130, 6, 4}, {66, 130, 3, 3}, {}, {.row_major = true}, channels_last}};
}

/// Values on which no derivative can be taken: all inputs are left alone.
TestCase without_derivatives(TestCase test_case) {
  for (TestInput& input : test_case.inputs) input.differentiable = false;
  return test_case;
}

/// Ties, windows that are all closed, and what is no ordinary number.
std::vector<TestCase> special_cases(const Geometry& g) {
  std::vector<TestCase> list;
  auto add = [&](const char* what, TestFill x_fill, TestFill w_fill, TestFill b_fill) {
    TestInput x{g.x, x_fill, TestLayout::channels_last}, w{g.w, w_fill}, b{{g.w[0]}, b_fill};
    list.push_back(
        without_derivatives({std::string(g.label) + ", " + what, {x, w, b}, Attributes::of(g.options())}));
  };
  add("all equal", {TestFill::constant, 1}, {TestFill::constant, 0.25}, {TestFill::constant, 1});
  add("zeros", {TestFill::constant, 0}, {}, {TestFill::constant, 0});
  add("few values", {TestFill::integers, 0, 1}, {TestFill::integers, -1, 1}, {TestFill::constant, 0});
  // Multiples of 0.3: sums are equal, or zero with the bias, until they are rounded.
  const double middle = -0.3 * double(g.w[1] * g.w[2] * g.w[3]);
  add("equal sums", {TestFill::integers, 0, 2}, {TestFill::constant, 0.3}, {TestFill::constant, middle});
  add("all negative", {TestFill::uniform, 0.5, 1}, {TestFill::uniform, -1, -0.5}, {TestFill::constant, 0});
  add("NaN", {TestFill::with_nan}, {}, {});
  add("infinity", {TestFill::with_infinity}, {}, {});
  add("denormal", {TestFill::uniform, -1e-39, 1e-39}, {}, {TestFill::constant, 0});
  return list;
}

std::vector<TestCase> cases() {
  std::vector<TestCase> list;
  std::vector<Geometry> all = geometries();
  all.push_back({"windows over the edge", {2, 5, 7, 8}, {5, 5, 3, 3}, {}, {.padding = 1}});
  for (Geometry g : all) {
    TestInput x{g.x, {}, g.layout}, w{g.w}, b{{g.w[0]}}, none{};
    none.defined = false;
    list.push_back({g.label, {x, w, b}, Attributes::of(g.options())});
    g.pool.choice = false;
    list.push_back(without_derivatives(
        {std::string(g.label) + " without choice", {x, w, b}, Attributes::of(g.options())}));
    g.pool.choice = true;
    if (g.label == std::string("3x3") || g.label == std::string("padded") ||
        g.label == std::string("one channel") || g.label == std::string("5x5 many channels"))
      list.push_back({std::string(g.label) + " without bias", {x, w, none}, Attributes::of(g.options())});
  }
  list.push_back({"w transposed",
                  {{{2, 5, 6, 6}}, {{4, 5, 3, 3}, {}, TestLayout::transposed}, {{4}}},
                  Attributes::of(Conv2dMaxPool2dOptions{})});
  auto add = [&](const Geometry& g) {
    for (TestCase& test_case : special_cases(g)) list.push_back(std::move(test_case));
  };
  add({"special 3x3", {2, 5, 9, 20}, {9, 5, 3, 3}, {}, {}});
  add({"special row_major", {1, 5, 9, 20}, {5, 5, 3, 3}, {.padding = 1}, {.relu = false, .row_major = true}});
  add({"special one channel", {2, 1, 8, 30}, {9, 1, 3, 3}, {}, {.relu = false}});
  add({"special 5x5", {1, 6, 10, 20}, {5, 6, 5, 5}, {}, {.kernel = 3, .stride = 2, .padding = 1}});
  add({"special 3x3 without choice", {2, 5, 9, 20}, {9, 5, 3, 3}, {}, {.choice = false}});
  add({"special one channel without choice", {2, 1, 8, 30}, {9, 1, 3, 3}, {}, {.choice = false}});
  return list;
}

/// Choices of every kind: places of the window, and the first number that is none.
TestInput choices(const Shape& y, const Geometry& g) {
  const int64_t places = g.pool.kernel.height * g.pool.kernel.width;
  TestInput choice{y, {TestFill::integers, 0, double(places)}, g.layout, {DType::u8}};
  choice.differentiable = false;
  return choice;
}

Shape pooled_shape_of(const Geometry& g) {
  const Shape result = reference::windows_shape(g.x, g.w[0], convolution_windows(g.x, g.w, g.conv));
  return reference::windows_shape(result, result[1], pooling_windows(result, g.options()));
}

std::vector<TestCase> input_gradient_cases() {
  std::vector<TestCase> list;
  for (const Geometry& g : geometries()) {
    const Shape y = pooled_shape_of(g);
    Conv2dMaxPool2dInputGradientOptions options{
        g.options(), {g.x[2], g.x[3]}, g.layout == TestLayout::channels_last};
    list.push_back({g.label, {{y, {}, g.layout}, choices(y, g), {g.w}}, Attributes::of(options)});
  }
  return list;
}

std::vector<TestCase> weight_gradient_cases() {
  std::vector<TestCase> list;
  std::vector<Geometry> all = geometries();
  all.push_back(
      {"259 windows", {1, 1, 16, 76}, {2, 1, 3, 3}, {}, {}, TestLayout::channels_last});  // 130 + 129
  for (const Geometry& g : all) {
    const Shape y = pooled_shape_of(g);
    Conv2dMaxPool2dWeightGradientOptions options{g.options(), {g.w[2], g.w[3]}};
    list.push_back(
        {g.label, {{g.x, {}, g.layout}, {y, {}, g.layout}, choices(y, g)}, Attributes::of(options)});
  }
  return list;
}

std::vector<RefusedCall> refused_calls() {
  return {refuses<ShapeError>({{{1, 2, 5, 5}}, {{4, 2, 3, 3}}}, {"[300, 1]", "254"},
                              Attributes::of(Conv2dMaxPool2dOptions{{}, {300, 1}}))};
}

std::vector<RefusedCall> input_gradient_refused_calls() {
  const TestInput dy{{1, 4, 3, 3}};
  return {refuses<ShapeError>(
      {dy, dy, {{4, 2, 3, 3}}}, {"groups"},
      Attributes::of(Conv2dMaxPool2dInputGradientOptions{{{.groups = INT64_MAX}}, {5, 5}}))};
}

ErrorModel error(Specs inputs, const Attributes&) {
  const Shape& w = inputs[1].shape;
  return {ErrorModel::absolute_inputs, double(w[1] * w[2] * w[3] + 1)};
}

/// Each element of the convolution's result collects at most one dy per window that holds it.
ErrorModel input_gradient_error(Specs inputs, const Attributes& attributes) {
  auto& o = attributes.as<Conv2dMaxPool2dInputGradientOptions>();
  const Shape& w = inputs[2].shape;
  const Pair step = pool_stride(o.pool_stride, o.pool_kernel);
  const int64_t windows =
      ((o.pool_kernel.height - 1) / step.height + 1) * ((o.pool_kernel.width - 1) / step.width + 1);
  return {ErrorModel::absolute_inputs, double(w[0] / o.groups * w[2] * w[3] * windows)};
}

ErrorModel weight_gradient_error(Specs inputs, const Attributes&) {
  const Shape& dy = inputs[1].shape;
  return {ErrorModel::absolute_inputs, double(dy[0] * dy[2] * dy[3] + 1)};
}

/// The convolution is evaluated at all places that pooling looks at.
double operations(const Call& call) {
  const auto& o = call.options<Conv2dMaxPool2dOptions>();
  const TensorView &x = call.input(0), &w = call.input(1);
  const int64_t rows = window_positions(x.shape[2], o.padding.top, o.padding.bottom, w.shape[2],
                                        o.stride.height, o.dilation.height);
  const int64_t columns = window_positions(x.shape[3], o.padding.left, o.padding.right, w.shape[3],
                                           o.stride.width, o.dilation.width);
  return 2 * double(x.shape[0] * w.shape[0] * rows * columns) * filter_terms(w);
}
/// The gradients count one place of each window.
double input_gradient_operations(const Call& call) {
  return 2 * elements(call.input(0)) * filter_terms(call.input(2));
}

bool ends_in_relu(const Attributes& attributes) { return attributes.as<Conv2dMaxPool2dOptions>().relu; }

/// Where ReLU is closed, the choice names no place.
int closed_output(const Attributes& attributes) { return ends_in_relu(attributes) ? 1 : -1; }

void register_gradients(Registry& registry) {
  registry.add(
      {.name = "conv2d_max_pool2d_input_gradient",
       .summary = "dx [N,C,H,W] of conv2d_max_pool2d from dy, choice [N,K,P,Q] and w [K,C/groups,R,S]",
       .options = &schema_of<Conv2dMaxPool2dInputGradientOptions>(),
       .autocast = AutocastPolicy::low,
       .infer = infer_input_gradient,
       .reference = reference_input_gradient,
       .rows = rows_of_operands({0, 1}),
       .cases = input_gradient_cases,
       .refused_calls = input_gradient_refused_calls,
       .error = input_gradient_error,
       .operations = input_gradient_operations,
       .masked = {0, 1}});
  registry.add({.name = "conv2d_max_pool2d_weight_gradient",
                .summary = "dw [K,C/groups,R,S] and db [K] of conv2d_max_pool2d from x, dy and choice",
                .options = &schema_of<Conv2dMaxPool2dWeightGradientOptions>(),
                .autocast = AutocastPolicy::low,
                .infer = infer_weight_gradient,
                .reference = reference_weight_gradient,
                .rows = rows_of_operands({0, 1, 2}),
                .sums = {0, 1},
                .cases = weight_gradient_cases,
                .error = weight_gradient_error,
                .operations = weight_gradient_operations,
                .masked = {1, 2}});
}

}  // namespace

namespace ops {

void register_conv2d_max_pool2d(Registry& registry) {
  registry.add({.name = "conv2d_max_pool2d",
                .summary = "y = relu(the largest of conv2d(x, w, b) in the window), and which place it was",
                .options = &schema_of<Conv2dMaxPool2dOptions>(),
                .autocast = AutocastPolicy::low,
                .optional = {2},
                .infer = infer,
                .reference = reference_forward,
                .rows = rows_of_first,
                .gradient = gradient,
                .saves = {{Saved::input, 0}, {Saved::input, 1}, {Saved::output, 1}},
                .once_differentiable = true,
                .not_differentiable = {1},
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .accepts = accepts_choice,
                .operations = operations,
                .never_negative = ends_in_relu,
                .closed_output = closed_output});
  register_gradients(registry);
}

}  // namespace ops

const Op& conv2d_max_pool2d_op() {
  static const Op& op = op_named("conv2d_max_pool2d");
  return op;
}

Conv2dMaxPool2dResult conv2d_max_pool2d(const Tensor& x, const Tensor& w, const Tensor& b,
                                        const Conv2dMaxPool2dOptions& options) {
  const Op& op = conv2d_max_pool2d_op();
  auto outputs = apply(op, {x, w, b}, Attributes::of(options));
  return {outputs[0], options.choice ? outputs[1] : Tensor()};
}

const Op& conv2d_max_pool2d_input_gradient_op() {
  static const Op& op = op_named("conv2d_max_pool2d_input_gradient");
  return op;
}

Tensor conv2d_max_pool2d_input_gradient(const Tensor& dy, const Tensor& choice, const Tensor& w,
                                        const Conv2dMaxPool2dInputGradientOptions& options) {
  const Op& op = conv2d_max_pool2d_input_gradient_op();
  return apply(op, {dy, choice, w}, Attributes::of(options))[0];
}

const Op& conv2d_max_pool2d_weight_gradient_op() {
  static const Op& op = op_named("conv2d_max_pool2d_weight_gradient");
  return op;
}

Conv2dMaxPool2dWeightGradient conv2d_max_pool2d_weight_gradient(
    const Tensor& x, const Tensor& dy, const Tensor& choice,
    const Conv2dMaxPool2dWeightGradientOptions& options) {
  const Op& op = conv2d_max_pool2d_weight_gradient_op();
  auto outputs = apply(op, {x, dy, choice}, Attributes::of(options));
  return {outputs[0], outputs[1]};
}

}  // namespace treadle
