#include "treadle/ops/resample/interpolate2d.h"

#include <cmath>

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/require_defined.h"
#include "treadle/ops/image_spec.h"
#include "treadle/ops/pool2d/avg_pool2d.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/resample/axis_weights.h"

namespace treadle {
namespace {

/// Throws unless x [N,C,H,W] can be brought to the options' size.
void require_sound(const char* op, const Shape& x, const InterpolateOptions& options) {
  const std::string& mode = options.mode;
  require<ValueError>(mode == "nearest" || mode == "bilinear" || mode == "area",
                      "{}: mode is nearest, bilinear or area, not '{}'", op, mode);
  require<ShapeError>(x.rank() == 4, "{}: x has shape {}, expected 4 axes", op, x);
  auto positive = [](Pair size) {
    return std::min(size.height, size.width) > 0 && std::max(size.height, size.width) <= kMostGeometry;
  };
  require<ShapeError>(positive(options.size) && positive({x[2], x[3]}),
                      "{}: size [{}, {}] and the images of x {} must be from 1 to {}", op,
                      options.size.height, options.size.width, x, kMostGeometry);
}

Shape with_size(Shape x, Pair size) {
  x[2] = size.height, x[3] = size.width;
  return x;
}

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  const TensorSpec& x = inputs[0];
  const auto& options = attributes.as<InterpolateOptions>();
  require_sound("interpolate2d", x.shape, options);
  return {image_spec(with_size(x.shape, options.size), is_channels_last(x.shape, x.strides), x.dtype)};
}

std::vector<TensorSpec> infer_gradient(Specs inputs, const Attributes& attributes) {
  const char* op = "interpolate2d_gradient";
  const auto& options = attributes.as<InterpolateGradientOptions>();
  const Shape& dy = inputs[0].shape;
  require<ShapeError>(dy.rank() == 4, "{}: dy has shape {}, expected 4 axes", op, dy);
  const Shape dx = with_size(dy, options.input_size);
  require_sound(op, dx, options);
  require<ShapeError>(dy == with_size(dy, options.size), "{}: dy has shape {}, the options say [{}, {}]", op,
                      dy, options.size.height, options.size.width);
  return {image_spec(dx, options.channels_last, inputs[0].dtype)};
}

/// The weights of an axis as a matrix [to, from], from the definitions.
std::vector<double> weights_of_axis(int64_t from, int64_t to, const InterpolateOptions& options) {
  std::vector<double> weights(size_t(from * to));
  for (int64_t i = 0; i < to; ++i) {
    double* row = &weights[size_t(i * from)];
    const double ratio = double(from) / double(to);
    if (options.mode == "nearest") {
      row[i * from / to] = 1;
    } else if (options.mode == "area") {
      const double begin = std::floor(double(i * from) / double(to)),
                   end = std::ceil(double((i + 1) * from) / double(to));
      for (double place = begin; place < end; ++place) row[size_t(place)] = 1 / (end - begin);
    } else {
      const double aligned = to > 1 ? double(i) * double(from - 1) / double(to - 1) : 0;
      const double place = options.align_corners ? aligned : std::fmax((double(i) + 0.5) * ratio - 0.5, 0);
      const auto first = int64_t(place);
      row[first] += 1 - (place - double(first));
      row[std::min(first + 1, from - 1)] += place - double(first);
    }
  }
  return weights;
}

/// Calls f(index in x, index in y, weight) for all pairs of places of x [N,C,H,W] and y; row-major.
template <class F>
void for_each_weight(const Shape& x, const InterpolateOptions& options, F f) {
  const int64_t H = x[2], W = x[3], P = options.size.height, Q = options.size.width;
  const auto rows = weights_of_axis(H, P, options), columns = weights_of_axis(W, Q, options);
  for (int64_t plane = 0; plane < x[0] * x[1]; ++plane)
    for (int64_t p = 0; p < P; ++p)
      for (int64_t q = 0; q < Q; ++q)
        for (int64_t h = 0; h < H; ++h)
          for (int64_t w = 0; w < W; ++w)
            if (const double weight = rows[p * H + h] * columns[q * W + w]; weight != 0)
              f((plane * H + h) * W + w, (plane * P + p) * Q + q, weight);
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  const auto& options = attributes.as<InterpolateOptions>();
  auto y = ReferenceTensor::zeros(with_size(inputs[0].shape, options.size));
  for_each_weight(inputs[0].shape, options,
                  [&](int64_t i, int64_t o, double weight) { y.values[o] += weight * inputs[0].values[i]; });
  return {y};
}

std::vector<ReferenceTensor> reference_gradient(ReferenceInputs inputs, const Attributes& attributes) {
  const auto& options = attributes.as<InterpolateGradientOptions>();
  auto dx = ReferenceTensor::zeros(with_size(inputs[0].shape, options.input_size));
  for_each_weight(dx.shape, options,
                  [&](int64_t i, int64_t o, double weight) { dx.values[i] += weight * inputs[0].values[o]; });
  return {dx};
}

std::vector<Tensor> gradient(const GradientContext& context) {
  const TensorSpec& x = context.input_spec(0);
  return {interpolate2d_gradient(context.upstream(), {context.options<InterpolateOptions>(),
                                                      {x.shape[2], x.shape[3]},
                                                      is_channels_last(x.shape, x.strides)})};
}

std::vector<Tensor> gradient_of_gradient(const GradientContext& context) {
  return {interpolate2d(context.upstream(), context.options<InterpolateGradientOptions>())};
}

/// A geometry under test.
struct Geometry {
  const char* label;
  Shape x;
  InterpolateOptions options;
  TestLayout layout = TestLayout::contiguous;
};

std::vector<Geometry> geometries() {
  using enum TestLayout;
  return {{"nearest twice", {2, 3, 4, 5}, {{8, 10}, "nearest"}},
          {"nearest channels_last", {2, 5, 3, 4}, {{7, 4}, "nearest"}, channels_last},
          {"nearest smaller", {1, 2, 9, 11}, {{4, 3}, "nearest"}},
          {"bilinear twice", {2, 3, 4, 5}, {{8, 10}, "bilinear"}},
          {"bilinear to odd", {2, 2, 5, 4}, {{7, 9}, "bilinear"}},
          {"bilinear smaller", {2, 3, 9, 7}, {{4, 3}, "bilinear"}, channels_last},
          {"bilinear channels_last", {2, 6, 3, 5}, {{6, 7}, "bilinear"}, channels_last},
          {"bilinear to one", {2, 3, 3, 4}, {{1, 1}, "bilinear"}},
          {"aligned twice", {2, 3, 4, 5}, {{8, 10}, "bilinear", true}},
          {"aligned smaller", {2, 3, 9, 7}, {{4, 3}, "bilinear", true}, channels_last},
          {"aligned to one", {2, 3, 3, 4}, {{1, 2}, "bilinear", true}},
          {"area", {2, 3, 7, 5}, {{3, 2}, "area"}},
          {"area channels_last", {2, 5, 5, 7}, {{2, 3}, "area"}, channels_last},
          {"area larger", {2, 3, 4, 3}, {{6, 5}, "area"}},
          {"area to one", {3, 4, 5, 6}, {{1, 1}, "area"}},
          {"same size", {2, 2, 3, 4}, {{3, 4}, "bilinear"}},
          {"one channel channels_last", {2, 1, 5, 6}, {{3, 9}, "bilinear"}, channels_last},
          {"empty batch", {0, 3, 4, 4}, {{2, 3}, "area"}},
          {"transposed", {3, 4, 5, 6}, {{4, 7}, "bilinear"}, transposed},
          {"sliced", {2, 3, 5, 6}, {{3, 4}, "area"}, sliced},
          {"expanded", {2, 3, 4, 5}, {{8, 5}, "nearest"}, expanded}};
}

std::vector<TestCase> cases() {
  std::vector<TestCase> list;
  for (const Geometry& g : geometries())
    list.push_back({g.label, {{g.x, {}, g.layout}}, Attributes::of(g.options)});
  return list;
}

std::vector<TestCase> gradient_cases() {
  std::vector<TestCase> list;
  for (const Geometry& g : geometries())
    list.push_back({g.label,
                    {{with_size(g.x, g.options.size), {}, g.layout}},
                    Attributes::of(InterpolateGradientOptions{
                        g.options, {g.x[2], g.x[3]}, g.layout == TestLayout::channels_last})});
  return list;
}

std::vector<RefusedCall> refused_calls() {
  const TestInput x{{1, 2, 4, 5}};
  auto with = [](Pair size, const char* mode) { return Attributes::of(InterpolateOptions{size, mode}); };
  return {refuses<ValueError>({x}, {"interpolate2d", "'bicubic'"}, with(2, "bicubic")),
          refuses<ShapeError>({x}, {"size [0, 3]"}, with({0, 3}, "area")),
          refuses<ShapeError>({x}, {"size [-1, 3]"}, with({-1, 3}, "nearest")),
          refuses<ShapeError>({x}, {"size"}, with(INT64_MAX, "nearest")),
          refuses<ShapeError>({{{1, 2, 0, 5}}}, {"[1, 2, 0, 5]"}, with(2, "nearest")),
          refuses<ShapeError>({{{2, 4, 5}}}, {"[2, 4, 5]", "4 axes"}, with(2, "nearest"))};
}

std::vector<RefusedCall> gradient_refused_calls() {
  auto with = [](Pair size, Pair input_size) {
    return Attributes::of(InterpolateGradientOptions{{size}, input_size});
  };
  const TestInput dy{{1, 2, 4, 5}};
  return {refuses<ShapeError>({dy}, {"[1, 2, 4, 5]", "[4, 4]"}, with(4, 2)),
          refuses<ShapeError>({dy}, {"[1, 2, 0, 3]"}, with({4, 5}, {0, 3}))};
}

/// Places of one axis that a place of the other collects, at most, and the two or three of its ends.
double places_met(int64_t collected, int64_t places) { return double(2 * collected) / double(places) + 3; }

/// The terms of a sum, and the roundings of two weights and their product.
ErrorModel error(Specs inputs, const Attributes& attributes) {
  const Pair size = attributes.as<InterpolateOptions>().size;
  const Shape& x = inputs[0].shape;
  return {ErrorModel::absolute_inputs, places_met(x[2], size.height) * places_met(x[3], size.width) + 6};
}

ErrorModel gradient_error(Specs inputs, const Attributes& attributes) {
  const Pair size = attributes.as<InterpolateGradientOptions>().input_size;
  const Shape& dy = inputs[0].shape;
  return {ErrorModel::absolute_inputs, places_met(dy[2], size.height) * places_met(dy[3], size.width) + 6};
}

/// A product with its sum for each pair of places, of which there are at least as many as of the larger
/// image.
double operations(const Call& call) { return 2 * std::max(elements(call.input(0)), elements(call.output())); }

}  // namespace

namespace ops {

void register_interpolate2d(Registry& registry) {
  registry.add({.name = "interpolate2d",
                .summary = "y [N,C,P,Q]: the images of x [N,C,H,W] in another size",
                .options = &schema_of<InterpolateOptions>(),
                .infer = infer,
                .reference = reference,
                .rows = rows_of_first,
                .gradient = gradient,
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .operations = operations});
  registry.add({.name = "interpolate2d_gradient",
                .summary = "dx [N,C,H,W] of interpolate2d from dy [N,C,P,Q]",
                .options = &schema_of<InterpolateGradientOptions>(),
                .infer = infer_gradient,
                .reference = reference_gradient,
                .gradient = gradient_of_gradient,
                .cases = gradient_cases,
                .refused_calls = gradient_refused_calls,
                .error = gradient_error,
                .operations = operations});
}

}  // namespace ops

Tensor interpolate2d(const Tensor& x, const InterpolateOptions& options) {
  static const Op& op = op_named("interpolate2d");
  return apply(op, {x}, Attributes::of(options))[0];
}

Tensor interpolate2d_gradient(const Tensor& dy, const InterpolateGradientOptions& options) {
  static const Op& op = op_named("interpolate2d_gradient");
  return apply(op, {dy}, Attributes::of(options))[0];
}

Tensor adaptive_avg_pool2d(const Tensor& x, Pair size) {
  require_defined("adaptive_avg_pool2d", x, 1);
  require_sound("adaptive_avg_pool2d", x.shape(), {size, "area"});
  if (size == Pair(1)) return mean(x, {2, 3}, true);
  if (x.size(2) % size.height == 0 && x.size(3) % size.width == 0)
    return avg_pool2d(x, {.kernel = {x.size(2) / size.height, x.size(3) / size.width}});
  return interpolate2d(x, {size, "area"});
}

}  // namespace treadle
