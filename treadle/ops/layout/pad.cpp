#include "treadle/ops/layout/pad.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/require_defined.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/fill/fill_options.h"
#include "treadle/ops/image_spec.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/index_select.h"
#include "treadle/ops/layout/views.h"

namespace treadle {
namespace {

constexpr int64_t kMostPadding = int64_t(1) << 40;

/// Throws unless there is a number for both sides of each axis.
void require_sound(const Shape& x, const Dims& before, const Dims& after) {
  auto sound = [](int64_t places) { return places >= 0 && places <= kMostPadding; };
  require<ShapeError>(before.rank() == x.rank() && after.rank() == x.rank() &&
                          std::all_of(before.begin(), before.end(), sound) &&
                          std::all_of(after.begin(), after.end(), sound),
                      "pad: places before {} and behind {} must be from 0 to {}, for each axis of x {}",
                      before, after, kMostPadding, x);
}

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  const TensorSpec& x = inputs[0];
  const auto& options = attributes.as<PadOptions>();
  require_sound(x.shape, options.before, options.after);
  Shape shape = x.shape;
  for (int axis = 0; axis < shape.rank(); ++axis) shape[axis] += options.before[axis] + options.after[axis];
  checked_numel(shape);
  return {image_spec(shape, is_channels_last(x.shape, x.strides), x.dtype)};
}

std::vector<int> rows(Specs, const Attributes& attributes) {
  const auto& options = attributes.as<PadOptions>();
  const bool keeps_rows = options.before.rank() > 0 && options.before[0] == 0 && options.after[0] == 0;
  return keeps_rows ? std::vector{0} : std::vector<int>{};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  const auto& options = attributes.as<PadOptions>();
  const ReferenceTensor& x = inputs[0];
  Shape shape = x.shape;
  for (int axis = 0; axis < shape.rank(); ++axis) shape[axis] += options.before[axis] + options.after[axis];
  ReferenceTensor y{shape, std::vector<double>(size_t(shape.numel()), options.value)};
  for (int64_t i = 0; i < x.shape.numel(); ++i) {
    int64_t place = 0, rest = i, step = 1;
    for (int axis = shape.rank() - 1; axis >= 0; step *= shape[axis], rest /= x.shape[axis], --axis)
      place += (rest % x.shape[axis] + options.before[axis]) * step;
    y.values[size_t(place)] = x.values[size_t(i)];
  }
  return {y};
}

/// The part of dy that x is.
std::vector<Tensor> gradient(const GradientContext& context) {
  const auto& options = context.options<PadOptions>();
  const Shape& x = context.input_spec(0).shape;
  Tensor dx = context.upstream();
  for (int axis = 0; axis < x.rank(); ++axis)
    if (options.before[axis] + options.after[axis] > 0)
      dx = slice(dx, axis, options.before[axis], options.before[axis] + x[axis]);
  return {dx};
}

void compose(const Composition& call) {
  const auto& options = call.options<PadOptions>();
  const TensorView &x = call.input(0), &y = call.output();
  call.run(fill_op(), {y}, {y}, Attributes::of(FillOptions{options.value}));
  TensorView part = y;
  int64_t first = 0;
  for (int axis = 0; axis < y.shape.rank(); ++axis) first += options.before[axis] * y.strides[axis];
  part.data = static_cast<char*>(y.data) + first * int64_t(size_of(y.dtype));
  part.shape = x.shape;
  call.run(copy_into_op(), {part, x}, {part});
}

std::vector<TestCase> cases() {
  using enum TestLayout;
  auto one = [](const char* label, Shape x, const PadOptions& options, TestLayout layout = contiguous) {
    return TestCase{label, {{x, {}, layout}}, Attributes::of(options)};
  };
  TestCase infinite = one("infinite", {3, 4}, {{1, 0}, {0, 2}, -INFINITY});
  infinite.inputs[0].differentiable = false;  // sums over y are infinite
  const PadOptions images{{0, 0, 1, 2}, {0, 0, 3, 0}, 0.5};
  return {one("images", {2, 3, 4, 5}, images),
          one("images channels_last", {2, 3, 4, 5}, images, channels_last),
          one("vector", {7}, {{2}, {3}, -1}),
          one("rank 0", {}, {}),
          one("batch", {2, 3}, {{1, 0}, {1, 2}}),
          one("rows before", {4, 3}, {{2, 1}, {0, 0}, 3}),
          one("rows behind", {4, 3}, {{0, 0}, {2, 1}, 3}),
          one("nothing added", {3, 4}, {{0, 0}, {0, 0}, 7}),
          infinite,
          one("nothing there", {0, 3}, {{2, 1}, {0, 0}, 3}),
          one("transposed", {4, 3, 5}, {{1, 0, 2}, {0, 1, 1}, 2}, transposed),
          one("sliced", {4, 6}, {{1, 1}, {1, 1}, 2}, sliced),
          one("expanded", {4, 6}, {{1, 1}, {1, 1}, 2}, expanded)};
}

std::vector<RefusedCall> refused_calls() {
  const TestInput x{{2, 3}};
  auto with = [](const Dims& before, const Dims& after) { return Attributes::of(PadOptions{before, after}); };
  return {refuses<ShapeError>({x}, {"[1]", "[2, 3]"}, with({1}, {1, 1})),
          refuses<ShapeError>({x}, {"[1, 1, 1]", "[2, 3]"}, with({1, 1}, {1, 1, 1})),
          refuses<ShapeError>({x}, {"[-1, 0]"}, with({-1, 0}, {0, 0})),
          refuses<ShapeError>({x}, {"pad"}, with({0, 0}, {0, INT64_MAX})),
          refuses<ShapeError>({x}, {"too many"}, with({kMostPadding, kMostPadding}, {0, 0}))};
}

/// x's places along an axis, by number of the place in the result counted from x's first.
Tensor select_places(const Tensor& x, int axis, int64_t before, int64_t after,
                     const std::function<int64_t(int64_t, int64_t)>& place) {
  const int64_t extent = x.size(axis);
  std::vector<int64_t> places;
  for (int64_t i = -before; i < extent + after; ++i) places.push_back(place(i, extent));
  const Shape shape{int64_t(places.size())};
  return index_select(x, axis, Tensor::from(std::span<const int64_t>(places), shape, x.device()));
}

Tensor pad_by_places(const char* name, Tensor x, const Dims& before, const Dims& after, bool mirrored,
                     const std::function<int64_t(int64_t, int64_t)>& place) {
  require_defined(name, x, 1);
  require_sound(x.shape(), before, after);
  for (int axis = 0; axis < x.rank(); ++axis) {
    const int64_t most = std::max(before[axis], after[axis]);
    if (most == 0) continue;
    require<ShapeError>(x.size(axis) > (mirrored ? most : 0),
                        "{}: axis {} of x {} has too few places for {} more on a side", name, axis, x.shape(),
                        most);
    x = select_places(x, axis, before[axis], after[axis], place);
  }
  return x;
}

}  // namespace

namespace ops {

void register_pad(Registry& registry) {
  registry.add({.name = "pad",
                .summary = "y = x with places before and behind each axis that hold a value",
                .options = &schema_of<PadOptions>(),
                .infer = infer,
                .reference = reference,
                .rows = rows,
                .gradient = gradient,
                .compose = compose,
                .cases = cases,
                .refused_calls = refused_calls,
                .operations = no_operations()});
}

}  // namespace ops

Tensor pad(const Tensor& x, const PadOptions& options) {
  static const Op& op = op_named("pad");
  return apply(op, {x}, Attributes::of(options))[0];
}

Tensor pad_reflect(const Tensor& x, const Dims& before, const Dims& after) {
  return pad_by_places("pad_reflect", x, before, after, true, [](int64_t i, int64_t extent) {
    return i < 0 ? -i : i < extent ? i : 2 * (extent - 1) - i;
  });
}

Tensor pad_replicate(const Tensor& x, const Dims& before, const Dims& after) {
  return pad_by_places("pad_replicate", x, before, after, false,
                       [](int64_t i, int64_t extent) { return std::clamp<int64_t>(i, 0, extent - 1); });
}

}  // namespace treadle
