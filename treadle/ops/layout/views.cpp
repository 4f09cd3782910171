#include "treadle/ops/layout/views.h"

#include <algorithm>

#include "treadle/core/error.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/require_defined.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/slice_gradient.h"
#include "treadle/ops/layout/view_strides.h"
#include "treadle/ops/layout/views_options.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

/// Replaces one -1 by what the other extents leave.
Shape complete_shape(const Shape& from, Shape shape) {
  const Shape asked = shape;
  int64_t* open = std::find(shape.begin(), shape.end(), -1);
  bool has_open = open != shape.end();
  if (has_open) *open = 1;
  int64_t known = checked_numel(shape);
  require<ShapeError>(!has_open || known > 0, "reshape: in {} the -1 can be any extent", asked);
  if (has_open) *open = from.numel() / known;
  require<ShapeError>(shape.numel() == from.numel(), "reshape: shape {} does not hold the elements of {}",
                      asked, from);
  return shape;
}

/// The shape rules of the four ops that keep the row-major order of elements.
Shape reshaped(const Shape& x, const Attributes& attributes) {
  return complete_shape(x, attributes.as<ReshapeOptions>().shape);
}

Shape flattened(const Shape& x, const Attributes& attributes) {
  int start = normalize_axis(attributes.as<FlattenOptions>().start_axis, std::max(x.rank(), 1), "flatten");
  Shape y;
  for (int axis = 0; axis < start; ++axis) y.push_back(x[axis]);
  y.push_back(1);
  for (int axis = start; axis < x.rank(); ++axis) y[start] *= x[axis];
  return y;
}

Shape squeezed(const Shape& x, const Attributes& attributes) {
  int removed = normalize_axis(attributes.as<AxisOptions>().axis, x.rank(), "squeeze");
  require<ShapeError>(x[removed] == 1, "squeeze: axis {} of {} has not the extent 1", removed, x);
  Shape y;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (axis != removed) y.push_back(x[axis]);
  return y;
}

Shape unsqueezed(const Shape& x, const Attributes& attributes) {
  int added = normalize_axis(attributes.as<AxisOptions>().axis, x.rank() + 1, "unsqueeze");
  Shape y;
  for (int axis = 0; axis <= x.rank(); ++axis) y.push_back(axis == added ? 1 : x[axis - (axis > added)]);
  return y;
}

using ShapeRule = Shape (*)(const Shape&, const Attributes&);

template <ShapeRule rule>
std::vector<TensorSpec> infer_reshape(Specs inputs, const Attributes& attributes) {
  const TensorSpec& x = inputs[0];
  Shape shape = rule(x.shape, attributes);
  auto strides = view_strides(x.shape, x.strides, shape);
  require<ShapeError>(strides.has_value(), "reshape: a tensor {} with strides {} has no view of shape {}",
                      x.shape, x.strides, shape);
  return {{shape, *strides, x.dtype, true}};
}

template <ShapeRule rule>
std::vector<ReferenceTensor> reshape_reference(ReferenceInputs inputs, const Attributes& attributes) {
  return {{rule(inputs[0].shape, attributes), inputs[0].values}};
}

std::vector<Tensor> reshape_gradient(const GradientContext& context) {
  return {reshape(context.upstream(), context.input_spec(0).shape)};
}

/// A permutation given by `axes`, checked.
Dims permutation(const Shape& x, const Dims& axes) {
  Dims order;
  bool seen[kMaxRank] = {};
  require<ShapeError>(axes.rank() == x.rank(), "permute: {} does not name the axes of {}", axes, x);
  for (int64_t axis : axes) {
    order.push_back(normalize_axis(axis, x.rank(), "permute"));
    require<ShapeError>(!seen[order[-1]], "permute: {} names an axis twice", axes);
    seen[order[-1]] = true;
  }
  return order;
}

Dims permute_order(const Shape& x, const Attributes& attributes) {
  return permutation(x, attributes.as<PermuteOptions>().axes);
}

Dims transpose_order(const Shape& x, const Attributes& attributes) {
  const auto& options = attributes.as<TransposeOptions>();
  Dims order;
  for (int axis = 0; axis < x.rank(); ++axis) order.push_back(axis);
  std::swap(order[normalize_axis(options.a, x.rank(), "transpose")],
            order[normalize_axis(options.b, x.rank(), "transpose")]);
  return order;
}

using OrderRule = Dims (*)(const Shape&, const Attributes&);

Dims reordered(const Dims& dims, const Dims& order) {
  Dims result;
  for (int64_t axis : order) result.push_back(dims[int(axis)]);
  return result;
}

template <OrderRule rule>
std::vector<TensorSpec> infer_permute(Specs inputs, const Attributes& attributes) {
  const TensorSpec& x = inputs[0];
  Dims order = rule(x.shape, attributes);
  return {{reordered(x.shape, order), reordered(x.strides, order), x.dtype, true}};
}

/// Reads the reference's input through strides.
ReferenceTensor gather(const ReferenceTensor& x, const Shape& shape, const Strides& strides,
                       int64_t offset = 0) {
  ReferenceTensor y = ReferenceTensor::zeros(shape);
  for (int64_t i = 0; i < shape.numel(); ++i) {
    int64_t position = offset, rest = i;
    for (int axis = shape.rank() - 1; axis >= 0; rest /= shape[axis--])
      position += rest % shape[axis] * strides[axis];
    y.values[i] = x.values[position];
  }
  return y;
}

template <OrderRule rule>
std::vector<ReferenceTensor> permute_reference(ReferenceInputs inputs, const Attributes& attributes) {
  const Shape& shape = inputs[0].shape;
  Dims order = rule(shape, attributes);
  return {gather(inputs[0], reordered(shape, order), reordered(contiguous_strides(shape), order))};
}

template <OrderRule rule>
std::vector<Tensor> permute_gradient(const GradientContext& context) {
  Dims order = rule(context.input_spec(0).shape, context.attributes());
  Dims inverse = order;
  for (int axis = 0; axis < order.rank(); ++axis) inverse[int(order[axis])] = axis;
  return {permute(context.upstream(), inverse)};
}

/// A slice's positions with Python's rules applied.
struct SliceRange {
  int axis;
  int64_t begin, count, step;
};

SliceRange range_of(const Shape& x, const Attributes& attributes) {
  const auto& options = attributes.as<SliceOptions>();
  require<ValueError>(options.step >= 1, "slice: step must be at least 1, not {}", options.step);
  int axis = normalize_axis(options.axis, x.rank(), "slice");
  int64_t extent = x[axis];
  auto position = [&](int64_t p) { return std::clamp<int64_t>(p < 0 ? p + extent : p, 0, extent); };
  int64_t begin = position(options.begin), length = std::max<int64_t>(position(options.end) - begin, 0);
  return {axis, begin, length == 0 ? 0 : (length - 1) / options.step + 1, options.step};
}

std::vector<TensorSpec> infer_slice(Specs inputs, const Attributes& attributes) {
  TensorSpec y = inputs[0];
  SliceRange range = range_of(y.shape, attributes);
  y.shape[range.axis] = range.count;
  if (range.count > 1) y.strides[range.axis] *= range.step;
  return {y};
}

std::vector<Tensor> direct_slice(std::span<const Tensor> inputs, const Attributes& attributes) {
  const Tensor& x = inputs[0];
  TensorSpec spec = TensorSpec::of(x), y = infer_slice({&spec, 1}, attributes)[0];
  SliceRange range = range_of(x.shape(), attributes);
  return {x.alias(y.shape, y.strides, y.shape.numel() == 0 ? 0 : range.begin * x.strides()[range.axis])};
}

std::vector<ReferenceTensor> slice_reference(ReferenceInputs inputs, const Attributes& attributes) {
  Shape shape = inputs[0].shape;
  Strides strides = contiguous_strides(shape);
  SliceRange range = range_of(shape, attributes);
  int64_t offset = range.begin * strides[range.axis];
  shape[range.axis] = range.count;
  strides[range.axis] *= range.step;
  return {gather(inputs[0], shape, strides, offset)};
}

std::vector<Tensor> slice_op_gradient(const GradientContext& context) {
  const Shape& shape = context.input_spec(0).shape;
  SliceRange range = range_of(shape, context.attributes());
  return {slice_gradient(context.upstream(), {range.axis, range.begin, range.step, shape[range.axis]})};
}

std::vector<TensorSpec> infer_expand(Specs inputs, const Attributes& attributes) {
  const Shape& shape = attributes.as<ExpandOptions>().shape;
  return {{shape, broadcast_strides(inputs[0].shape, inputs[0].strides, shape), inputs[0].dtype, true}};
}

std::vector<ReferenceTensor> expand_reference(ReferenceInputs inputs, const Attributes& attributes) {
  const Shape &from = inputs[0].shape, &shape = attributes.as<ExpandOptions>().shape;
  return {gather(inputs[0], shape, broadcast_strides(from, contiguous_strides(from), shape))};
}

std::vector<Tensor> expand_gradient(const GradientContext& context) {
  return {sum_to(context.upstream(), context.input_spec(0).shape)};
}

using Infer = std::vector<TensorSpec> (*)(Specs, const Attributes&);

/// The view that a shape rule describes.
template <Infer infer>
std::vector<Tensor> direct_view(std::span<const Tensor> inputs, const Attributes& attributes) {
  TensorSpec x = TensorSpec::of(inputs[0]), y = infer({&x, 1}, attributes)[0];
  return {inputs[0].alias(y.shape, y.strides)};
}

template <class Options>
TestCase one(const char* label, Shape shape, const Options& options,
             TestLayout layout = TestLayout::contiguous) {
  return {label, {{shape, {}, layout}}, Attributes::of(options)};
}

std::vector<TestCase> reshape_cases() {
  return {one("split", {6, 4}, ReshapeOptions{{2, 3, 4}}),
          one("merge", {2, 3, 4}, ReshapeOptions{{-1, 4}}),
          one("rank 0", {1}, ReshapeOptions{{}}),
          one("empty", {0, 3}, ReshapeOptions{{3, 0}}),
          one("ones", {3, 1, 2}, ReshapeOptions{{1, 3, 2, 1}}),
          one("split transposed", {6, 4}, ReshapeOptions{{2, 3, 2, 2}}, TestLayout::transposed)};
}

std::vector<TestCase> flatten_cases() {
  return {one("images", {2, 3, 4, 5}, FlattenOptions{1}), one("all", {2, 3, 4}, FlattenOptions{0}),
          one("last", {2, 3}, FlattenOptions{-1}), one("rank 0", {}, FlattenOptions{0}),
          one("empty", {0, 3, 2}, FlattenOptions{1})};
}

std::vector<TestCase> squeeze_cases() {
  return {one("first", {1, 3, 2}, AxisOptions{0}), one("last", {3, 2, 1}, AxisOptions{-1}),
          one("transposed", {4, 1, 3}, AxisOptions{1}, TestLayout::transposed)};
}

std::vector<TestCase> unsqueeze_cases() {
  return {one("first", {3, 2}, AxisOptions{0}), one("last", {3, 2}, AxisOptions{-1}),
          one("rank 0", {}, AxisOptions{0}),
          one("transposed", {4, 3}, AxisOptions{1}, TestLayout::transposed)};
}

std::vector<TestCase> permute_cases() {
  return {one("rotate", {2, 3, 4}, PermuteOptions{{2, 0, 1}}),
          one("negative", {2, 3}, PermuteOptions{{-1, -2}}), one("rank 0", {}, PermuteOptions{{}}),
          one("channels_last", {2, 3, 4, 5}, PermuteOptions{{0, 2, 3, 1}}, TestLayout::channels_last)};
}

std::vector<TestCase> transpose_cases() {
  return {one("matrix", {3, 5}, TransposeOptions{0, 1}), one("outer", {2, 3, 4}, TransposeOptions{-3, 1}),
          one("same", {2, 3}, TransposeOptions{1, 1}), one("empty", {0, 3}, TransposeOptions{})};
}

std::vector<TestCase> slice_cases() {
  return {one("rows", {7, 3}, SliceOptions{0, 2, 5}),
          one("columns", {4, 9}, SliceOptions{-1, 1, 8, 3}),
          one("from the end", {6, 2}, SliceOptions{0, -3, -1}),
          one("nothing", {4, 2}, SliceOptions{0, 3, 1}),
          one("beyond", {4, 2}, SliceOptions{0, 1, 100, 2}),
          one("one", {5, 2}, SliceOptions{0, 4, 5, 7}),
          one("sliced again", {9, 4}, SliceOptions{0, 1, 8, 2}, TestLayout::sliced),
          one("channels_last", {2, 5, 3, 4}, SliceOptions{1, 1, 4}, TestLayout::channels_last)};
}

std::vector<TestCase> expand_cases() {
  return {one("row", {4}, ExpandOptions{{3, 4}}),
          one("column", {3, 1}, ExpandOptions{{3, 5}}),
          one("rank 0", {}, ExpandOptions{{2, 3}}),
          one("same", {2, 3}, ExpandOptions{{2, 3}}),
          one("to nothing", {1, 3}, ExpandOptions{{0, 3}}),
          one("transposed", {4, 1, 3}, ExpandOptions{{2, 4, 2, 3}}, TestLayout::transposed)};
}

template <Infer infer>
Op view_op(const char* name, const char* summary, const OptionsSchema& options,
           std::vector<TestCase> (*cases)()) {
  return {.name = name,
          .summary = summary,
          .options = &options,
          .dtypes = kEveryDType,
          .infer = infer,
          .direct = direct_view<infer>,
          .cases = cases};
}

template <ShapeRule rule>
Op reshape_op(const char* name, const char* summary, const OptionsSchema& options,
              std::vector<TestCase> (*cases)()) {
  Op op = view_op<infer_reshape<rule>>(name, summary, options, cases);
  op.reference = reshape_reference<rule>;
  op.gradient = reshape_gradient;
  return op;
}

template <OrderRule rule>
Op permute_op(const char* name, const char* summary, const OptionsSchema& options,
              std::vector<TestCase> (*cases)()) {
  Op op = view_op<infer_permute<rule>>(name, summary, options, cases);
  op.reference = permute_reference<rule>;
  op.gradient = permute_gradient<rule>;
  return op;
}

Op slice_op() {
  Op op =
      view_op<infer_slice>("slice", "y = x[…, begin:end:step, …]", schema_of<SliceOptions>(), slice_cases);
  op.reference = slice_reference;
  op.gradient = slice_op_gradient;
  op.direct = direct_slice;
  return op;
}

Op expand_op() {
  Op op =
      view_op<infer_expand>("expand", "y = x broadcast to a shape", schema_of<ExpandOptions>(), expand_cases);
  op.reference = expand_reference;
  op.gradient = expand_gradient;
  return op;
}

/// A reshape as a view; of a row-major copy where x itself has none.
template <ShapeRule rule>
Tensor apply_reshape(const Op& op, const Tensor& x, const Attributes& attributes) {
  require_defined(op.name.c_str(), x);
  bool is_view = view_strides(x.shape(), x.strides(), rule(x.shape(), attributes)).has_value();
  return apply(op, {is_view ? x : contiguous(x)}, attributes)[0];
}

}  // namespace

namespace ops {

void register_views(Registry& registry) {
  registry.add(reshape_op<reshaped>("reshape", "y = x under another shape", schema_of<ReshapeOptions>(),
                                    reshape_cases));
  registry.add(reshape_op<flattened>("flatten", "y = x with its last axes merged",
                                     schema_of<FlattenOptions>(), flatten_cases));
  registry.add(reshape_op<squeezed>("squeeze", "y = x without an axis of extent 1", schema_of<AxisOptions>(),
                                    squeeze_cases));
  registry.add(reshape_op<unsqueezed>("unsqueeze", "y = x with an axis of extent 1", schema_of<AxisOptions>(),
                                      unsqueeze_cases));
  registry.add(permute_op<permute_order>("permute", "y = x with its axes reordered",
                                         schema_of<PermuteOptions>(), permute_cases));
  registry.add(permute_op<transpose_order>("transpose", "y = x with two axes swapped",
                                           schema_of<TransposeOptions>(), transpose_cases));
  registry.add(slice_op());
  registry.add(expand_op());
}

}  // namespace ops

Tensor reshape(const Tensor& x, const Shape& shape) {
  static const Op& op = op_named("reshape");
  return apply_reshape<reshaped>(op, x, Attributes::of(ReshapeOptions{shape}));
}

Tensor flatten(const Tensor& x, int64_t start_axis) {
  static const Op& op = op_named("flatten");
  return apply_reshape<flattened>(op, x, Attributes::of(FlattenOptions{start_axis}));
}

Tensor squeeze(const Tensor& x, int64_t axis) {
  static const Op& op = op_named("squeeze");
  return apply_reshape<squeezed>(op, x, Attributes::of(AxisOptions{axis}));
}

Tensor unsqueeze(const Tensor& x, int64_t axis) {
  static const Op& op = op_named("unsqueeze");
  return apply_reshape<unsqueezed>(op, x, Attributes::of(AxisOptions{axis}));
}

Tensor permute(const Tensor& x, const Dims& axes) {
  static const Op& op = op_named("permute");
  return apply(op, {x}, Attributes::of(PermuteOptions{axes}))[0];
}

Tensor transpose(const Tensor& x, int64_t a, int64_t b) {
  static const Op& op = op_named("transpose");
  return apply(op, {x}, Attributes::of(TransposeOptions{a, b}))[0];
}

Tensor slice(const Tensor& x, int64_t axis, int64_t begin, int64_t end, int64_t step) {
  static const Op& op = op_named("slice");
  return apply(op, {x}, Attributes::of(SliceOptions{axis, begin, end, step}))[0];
}

Tensor expand(const Tensor& x, const Shape& shape) {
  static const Op& op = op_named("expand");
  return apply(op, {x}, Attributes::of(ExpandOptions{shape}))[0];
}

Tensor pixel_shuffle(const Tensor& x, int64_t factor) {
  require_defined("pixel_shuffle", x, 1);
  const int64_t r = factor;
  require<ShapeError>(x.rank() == 4 && r > 0 && r < (1 << 20) && x.size(1) % (r * r) == 0,
                      "pixel_shuffle: x has shape {}, expected [N, C·{}², H, W]", x.shape(), r);
  const int64_t C = x.size(1) / (r * r), H = x.size(2), W = x.size(3);
  const Tensor cut = reshape(x, {x.size(0), C, r, r, H, W});
  return reshape(permute(cut, {0, 1, 4, 2, 5, 3}), {x.size(0), C, H * r, W * r});
}

Tensor pixel_unshuffle(const Tensor& x, int64_t factor) {
  require_defined("pixel_unshuffle", x, 1);
  const int64_t r = factor;
  require<ShapeError>(x.rank() == 4 && r > 0 && r < (1 << 20) && x.size(2) % r == 0 && x.size(3) % r == 0,
                      "pixel_unshuffle: x has shape {}, expected [N, C, H·{}, W·{}]", x.shape(), r, r);
  const int64_t C = x.size(1), H = x.size(2) / r, W = x.size(3) / r;
  const Tensor cut = reshape(x, {x.size(0), C, H, r, W, r});
  return reshape(permute(cut, {0, 1, 3, 5, 2, 4}), {x.size(0), C * r * r, H, W});
}

}  // namespace treadle
