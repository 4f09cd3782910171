#include "treadle/ops/reduce/reduce.h"

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/require_defined.h"
#include "treadle/ops/layout/index_select.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce_options.h"
#include "treadle/ops/reduce/reduce_plan.h"

namespace treadle {
namespace {

ReducedAxes checked_axes(const char* op, const Dims& axes, int rank) {
  unsigned seen = 0;
  for (int64_t axis : axes) {
    unsigned bit = 1u << normalize_axis(axis, rank, op);
    require<ShapeError>(!(seen & bit), "{}: axis {} is named twice in {}", op, axis, axes);
    seen |= bit;
  }
  return {axes, rank};
}

TensorSpec infer_reduced(const char* op, const TensorSpec& x, const Attributes& attributes, DType dtype) {
  const auto& options = attributes.as<ReduceOptions>();
  return TensorSpec::of(
      reduced_shape(x.shape, checked_axes(op, options.axes, x.shape.rank()), options.keep_axes), dtype);
}

std::vector<int> rows(Specs inputs, const Attributes& attributes) {
  const int rank = inputs[0].shape.rank();
  const bool keeps_rows = rank > 0 && !ReducedAxes(attributes.as<ReduceOptions>().axes, rank).contains(0);
  return keeps_rows ? std::vector{0} : std::vector<int>{};
}

std::vector<TensorSpec> infer_sum(Specs inputs, const Attributes& attributes) {
  DType dtype = is_floating(inputs[0].dtype) ? inputs[0].dtype : DType::i64;
  return {infer_reduced("sum", inputs[0], attributes, dtype)};
}

std::vector<TensorSpec> infer_mean(Specs inputs, const Attributes& attributes) {
  return {infer_reduced("mean", inputs[0], attributes, inputs[0].dtype)};
}

/// Values (unless `positions_only`) and positions.
template <bool positions_only>
std::vector<TensorSpec> infer_extremum(Specs inputs, const Attributes& attributes) {
  const char* op = positions_only ? "argmax" : "max or min";
  const Shape& shape = inputs[0].shape;
  TensorSpec positions = infer_reduced(op, inputs[0], attributes, DType::i64);
  Shape reduced = select_axes(shape, {attributes.as<ReduceOptions>().axes, shape.rank()}, true);
  require<ShapeError>(reduced.numel() > 0, "{}: x has shape {}, so there is nothing to choose from", op,
                      shape);
  if (positions_only) return {positions};
  TensorSpec values = positions;
  values.dtype = inputs[0].dtype;
  return {values, positions};
}

/// Calls visit(output, position, value) for every element of x: where it goes, and its index among those
/// reduced.
template <class Visit>
void visit_reduction(const ReferenceTensor& x, const ReducedAxes& axes, Visit visit) {
  for (int64_t i = 0; i < int64_t(x.values.size()); ++i) {
    int64_t output = 0, position = 0, output_stride = 1, position_stride = 1, rest = i;
    for (int axis = x.shape.rank() - 1; axis >= 0; rest /= x.shape[axis--]) {
      const bool reduced = axes.contains(axis);
      int64_t& stride = reduced ? position_stride : output_stride;
      (reduced ? position : output) += rest % x.shape[axis] * stride;
      stride *= x.shape[axis];
    }
    visit(output, position, x.values[i]);
  }
}

ReferenceTensor reduced_zeros(const ReferenceTensor& x, const ReduceOptions& options) {
  return ReferenceTensor::zeros(reduced_shape(x.shape, {options.axes, x.shape.rank()}, options.keep_axes));
}

std::vector<ReferenceTensor> sum_reference(ReferenceInputs inputs, const Attributes& attributes) {
  const auto& options = attributes.as<ReduceOptions>();
  ReferenceTensor y = reduced_zeros(inputs[0], options);
  visit_reduction(inputs[0], {options.axes, inputs[0].shape.rank()},
                  [&](int64_t output, int64_t, double value) { y.values[output] += value; });
  return {y};
}

std::vector<ReferenceTensor> mean_reference(ReferenceInputs inputs, const Attributes& attributes) {
  auto y = sum_reference(inputs, attributes);
  for (double& value : y[0].values) value /= double(inputs[0].values.size()) / double(y[0].values.size());
  return y;
}

template <bool largest>
std::vector<ReferenceTensor> extremum_reference(ReferenceInputs inputs, const Attributes& attributes) {
  const auto& options = attributes.as<ReduceOptions>();
  ReferenceTensor values = reduced_zeros(inputs[0], options), positions = values;
  visit_reduction(inputs[0], {options.axes, inputs[0].shape.rank()},
                  [&](int64_t output, int64_t position, double value) {
                    double best = values.values[output];
                    bool better = largest ? value > best : value < best;
                    if (position != 0 && !(better || (value != value && best == best))) return;
                    values.values[output] = value;
                    positions.values[output] = double(position);
                  });
  return {values, positions};
}

std::vector<ReferenceTensor> argmax_reference(ReferenceInputs inputs, const Attributes& attributes) {
  return {extremum_reference<true>(inputs, attributes)[1]};
}

/// dy repeated along the reduced axes: a view.
Tensor spread(const GradientContext& context, const Tensor& dy) {
  const Shape& shape = context.input_spec(0).shape;
  return expand(
      reshape(dy, reduced_shape(shape, {context.options<ReduceOptions>().axes, shape.rank()}, true)), shape);
}

std::vector<Tensor> sum_gradient(const GradientContext& context) {
  return {spread(context, context.upstream())};
}

std::vector<Tensor> mean_gradient(const GradientContext& context) {
  double outputs = double(context.output_spec(0).shape.numel());
  return {spread(context, context.upstream() * (outputs / double(context.input_spec(0).shape.numel())))};
}

std::vector<Tensor> extremum_gradient(const GradientContext& context) {
  if (!context.upstream().defined()) return {Tensor()};
  return apply(extremum_gradient_op(), {context.upstream(), context.output(1)},
               Attributes::of(ExtremumGradientOptions{context.options<ReduceOptions>().axes,
                                                      context.input_spec(0).shape}));
}

/// The elements at the positions, which count along the reduced axes in row-major order.
std::vector<Tensor> gradient_of_extremum_gradient(const GradientContext& context) {
  const auto& options = context.options<ExtremumGradientOptions>();
  const ReducedAxes axes(options.axes, options.shape.rank());
  Dims order, reduced;
  for (int axis = 0; axis < options.shape.rank(); ++axis)
    (axes.contains(axis) ? reduced : order).push_back(axis);
  for (int64_t axis : reduced) order.push_back(axis);
  const Shape& dy = context.input_spec(0).shape;
  const int64_t rows = dy.numel(), length = rows == 0 ? 0 : options.shape.numel() / rows;
  const Tensor of_rows = reshape(permute(context.upstream(), order), {rows, length});
  return {reshape(elements_of_rows(of_rows, reshape(context.input(1), {rows, 1})), dy), Tensor()};
}

std::vector<TensorSpec> infer_extremum_gradient(Specs inputs, const Attributes& attributes) {
  const auto& options = attributes.as<ExtremumGradientOptions>();
  ReducedAxes axes = checked_axes("extremum_gradient", options.axes, options.shape.rank());
  const Shape& dy = inputs[0].shape;
  require<ShapeError>(
      (dy == reduced_shape(options.shape, axes, true) || dy == reduced_shape(options.shape, axes, false)) &&
          dy == inputs[1].shape,
      "extremum_gradient: dy has shape {}, positions {}, and x {} reduced over {}", dy, inputs[1].shape,
      options.shape, options.axes);
  require<DTypeError>(inputs[1].dtype == DType::i64, "extremum_gradient: positions are {}, not i64",
                      name_of(inputs[1].dtype));
  return {TensorSpec::of(options.shape, inputs[0].dtype)};
}

std::vector<ReferenceTensor> extremum_gradient_reference(ReferenceInputs inputs,
                                                         const Attributes& attributes) {
  const auto& options = attributes.as<ExtremumGradientOptions>();
  ReferenceTensor dx = ReferenceTensor::zeros(options.shape);
  int64_t i = 0;
  visit_reduction(dx, {options.axes, options.shape.rank()}, [&](int64_t output, int64_t position, double) {
    dx.values[i++] = double(position) == inputs[1].values[output] ? inputs[0].values[output] : 0;
  });
  return {dx};
}

ErrorModel sum_error(Specs inputs, const Attributes& attributes) {
  const Shape& shape = inputs[0].shape;
  Shape reduced = select_axes(shape, {attributes.as<ReduceOptions>().axes, shape.rank()}, true);
  return {ErrorModel::absolute_inputs, double(reduced.numel()) + 2};
}

std::vector<TestCase> reduce_cases() {
  auto one = [&](const char* label, Shape shape, Dims axes, bool keep_axes = false,
                 TestLayout layout = TestLayout::contiguous) {
    return TestCase{label, {{shape, {}, layout}}, Attributes::of(ReduceOptions{axes, keep_axes})};
  };
  return {one("rows", {5, 203}, {-1}),
          one("rows kept", {3, 64}, {1}, true),
          one("columns", {67, 37}, {0}),
          one("columns kept", {9, 8}, {0}, true),
          one("all", {7, 11, 13}, {}),
          one("all, long", {5003}, {}),
          one("middle", {4, 33, 6}, {1}),
          one("outer and inner", {4, 5, 6}, {2, 0}),
          one("channels", {3, 5, 6, 7}, {0, 2, 3}),
          one("channels, channels_last", {3, 5, 6, 7}, {0, 2, 3}, true, TestLayout::channels_last),
          one("transposed", {5, 7, 3}, {0}, false, TestLayout::transposed),
          one("all, transposed", {5, 7, 3}, {}, true, TestLayout::transposed),
          one("sliced", {6, 11}, {1}, false, TestLayout::sliced),
          one("expanded", {6, 11}, {0}, false, TestLayout::expanded),
          one("one", {1}, {0}),
          one("rank 0", {}, {}),
          one("no rows", {0, 3}, {1})};
}

std::vector<TestCase> sum_cases() {
  auto list = reduce_cases();
  list.push_back({"nothing", {{{0, 3}}}, Attributes::of(ReduceOptions{{0}})});
  list.push_back({"many rows", {{{2051, 10}}}, Attributes::of(ReduceOptions{{0}})});
  list.push_back({"many elements", {{{3, 41, 401}}}, Attributes::of(ReduceOptions{{1, 2}})});
  return list;
}

/// Repeated extrema, and NaN: the first is taken. Not differentiable there.
std::vector<TestCase> extremum_cases() {
  auto list = reduce_cases();
  for (TestCase& one : list)
    if (one.label == "expanded") one.inputs[0].differentiable = false;
  TestInput ties{{6, 301}, {TestFill::integers, -2, 2}};
  ties.differentiable = false;
  list.push_back({"ties", {ties}, Attributes::of(ReduceOptions{{1}})});
  list.push_back({"ties over all", {ties}, Attributes::of(ReduceOptions{})});
  TestInput some_nan{{7, 523}, {TestFill::with_nan}};
  some_nan.differentiable = false;
  for (Dims axes : {Dims{1}, Dims{0}, Dims{}})
    list.push_back({"NaN", {some_nan}, Attributes::of(ReduceOptions{axes})});
  return list;
}

RefusedCall refused_over(const Dims& axes, std::vector<std::string> says, Shape x = {2, 3}) {
  return refuses<ShapeError>({{x}}, std::move(says), Attributes::of(ReduceOptions{axes}));
}

std::vector<RefusedCall> refused_calls() {
  return {refused_over({2}, {"axis 2", "2 axes"}), refused_over({-3}, {"axis -3"}),
          refused_over({0, -2}, {"twice"})};
}

std::vector<RefusedCall> extremum_refused_calls() {
  auto list = refused_calls();
  for (const Dims& axes : {Dims{}, Dims{0}}) list.push_back(refused_over(axes, {"[0, 3]"}, {0, 3}));
  return list;
}

std::vector<TestCase> extremum_gradient_cases() {
  auto one = [&](const char* label, Shape reduced, int64_t count, Dims axes, Shape shape) {
    TestInput positions{
        reduced, {TestFill::integers, 0, double(count - 1)}, TestLayout::contiguous, {DType::i64}};
    return TestCase{label, {{reduced}, positions}, Attributes::of(ExtremumGradientOptions{axes, shape})};
  };
  return {one("rows", {5}, 23, {1}, {5, 23}), one("columns kept", {1, 7}, 9, {0}, {9, 7}),
          one("all", {}, 77, {}, {7, 11}), one("outer and inner", {5}, 24, {0, 2}, {4, 5, 6}),
          one("no rows", {0}, 3, {1}, {0, 3})};
}

void add_extremum(Registry& registry, const char* name, const char* summary,
                  std::vector<ReferenceTensor> (*reference)(ReferenceInputs, const Attributes&)) {
  registry.add({.name = name,
                .summary = summary,
                .options = &schema_of<ReduceOptions>(),
                .dtypes = kNumeric,
                .infer = infer_extremum<false>,
                .reference = reference,
                .rows = rows,
                .gradient = extremum_gradient,
                .saves = {{Saved::output, 1}},
                .not_differentiable = {1},
                .cases = extremum_cases,
                .refused_calls = extremum_refused_calls,
                .operations = for_each_of_input(0, 1)});
}

}  // namespace

namespace ops {

void register_reduce(Registry& registry) {
  const OptionsSchema* options = &schema_of<ReduceOptions>();
  const Op& sum = registry.add({.name = "sum",
                                .summary = "y = Σ x over axes; integers in i64",
                                .options = options,
                                .dtypes = kEveryDType,
                                .autocast = AutocastPolicy::full,
                                .infer = infer_sum,
                                .reference = sum_reference,
                                .rows = rows,
                                .gradient = sum_gradient,
                                .cases = sum_cases,
                                .refused_calls = refused_calls,
                                .error = sum_error,
                                .operations = for_each_of_input(0, 1)});
  registry.set_sum_over_first_axis({&sum, Attributes::of(ReduceOptions{Dims{0}}), {}, {}});
  registry.add({.name = "mean",
                .summary = "y = Σ x / n over axes of n elements together",
                .options = options,
                .autocast = AutocastPolicy::full,
                .infer = infer_mean,
                .reference = mean_reference,
                .rows = rows,
                .gradient = mean_gradient,
                .cases = reduce_cases,
                .refused_calls = refused_calls,
                .error = sum_error,
                .operations = for_each_of_input(0, 1)});
  add_extremum(registry, "max", "y = largest x over axes, and its position", extremum_reference<true>);
  add_extremum(registry, "min", "y = smallest x over axes, and its position", extremum_reference<false>);
  registry.add({.name = "argmax",
                .summary = "position of the first largest x, row-major over the reduced axes",
                .options = options,
                .dtypes = kNumeric,
                .infer = infer_extremum<true>,
                .reference = argmax_reference,
                .rows = rows,
                .cases = extremum_cases,
                .refused_calls = extremum_refused_calls,
                .operations = for_each_of_input(0, 1)});
  registry.add({.name = "extremum_gradient",
                .summary = "dx of max and min: dy at the position that was chosen, 0 elsewhere",
                .options = &schema_of<ExtremumGradientOptions>(),
                .infer = infer_extremum_gradient,
                .reference = extremum_gradient_reference,
                .gradient = gradient_of_extremum_gradient,
                .saves = {{Saved::input, 1}},
                .cases = extremum_gradient_cases,
                .operations = no_operations()});
}

}  // namespace ops

namespace {

Tensor reduce(const Op& op, const Tensor& x, const Dims& axes, bool keep_axes) {
  return apply(op, {x}, Attributes::of(ReduceOptions{axes, keep_axes}))[0];
}

}  // namespace

const Op& sum_op() {
  static const Op& op = op_named("sum");
  return op;
}

Tensor sum(const Tensor& x, const Dims& axes, bool keep_axes) { return reduce(sum_op(), x, axes, keep_axes); }

const Op& mean_op() {
  static const Op& op = op_named("mean");
  return op;
}

Tensor mean(const Tensor& x, const Dims& axes, bool keep_axes) {
  return reduce(mean_op(), x, axes, keep_axes);
}

Tensor max(const Tensor& x, const Dims& axes, bool keep_axes) {
  static const Op& op = op_named("max");
  return reduce(op, x, axes, keep_axes);
}

Tensor min(const Tensor& x, const Dims& axes, bool keep_axes) {
  static const Op& op = op_named("min");
  return reduce(op, x, axes, keep_axes);
}

const Op& extremum_gradient_op() {
  static const Op& op = op_named("extremum_gradient");
  return op;
}

namespace {

const Op& argmax_op() {
  static const Op& op = op_named("argmax");
  return op;
}

}  // namespace

Tensor argmax(const Tensor& x, int64_t axis, bool keep_axis) {
  return reduce(argmax_op(), x, {axis}, keep_axis);
}

Tensor argmax(const Tensor& x) { return reduce(argmax_op(), x, {}, false); }

Tensor sum_to(const Tensor& x, const Shape& shape) {
  require_defined("sum_to", x);
  if (x.shape() == shape) return x;
  require<ShapeError>(broadcast_shapes(x.shape(), shape, "sum_to") == x.shape(),
                      "sum_to: shape {} does not broadcast to x's shape {}", shape, x.shape());
  const int leading = x.rank() - shape.rank();
  Dims axes;
  bool inner = false;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (axis >= leading && shape[axis - leading] == x.shape()[axis]) continue;
    inner |= axis >= leading;
    axes.push_back(axis);
  }
  return inner && leading > 0 ? reshape(sum(x, axes, true), shape) : sum(x, axes, inner);
}

}  // namespace treadle
