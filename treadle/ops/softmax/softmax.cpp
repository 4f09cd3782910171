#include "treadle/ops/softmax/softmax.h"

#include <cmath>

#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pointwise/pointwise_layout.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/softmax/softmax_options.h"

namespace treadle {
namespace {

void check_axis(const char* op, const Shape& shape, const Attributes& attributes) {
  const int64_t axis = attributes.as<SoftmaxOptions>().axis;
  if (shape.rank() > 0 || (axis != 0 && axis != -1)) normalize_axis(axis, shape.rank(), op);
}

template <bool logarithm>
constexpr const char* kName = logarithm ? "log_softmax" : "softmax";
template <bool logarithm>
constexpr const char* kGradientName = logarithm ? "log_softmax_gradient" : "softmax_gradient";

template <bool logarithm>
std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  check_axis(kName<logarithm>, inputs[0].shape, attributes);
  return {pointwise_output(kName<logarithm>, inputs, inputs[0].dtype)};
}

template <bool logarithm>
std::vector<TensorSpec> infer_gradient(Specs inputs, const Attributes& attributes) {
  constexpr const char* name = kGradientName<logarithm>;
  check_axis(name, inputs[0].shape, attributes);
  require_same_dtype(name, inputs);
  require<ShapeError>(inputs[0].shape == inputs[1].shape, "{}: y has shape {}, dy {}", name, inputs[0].shape,
                      inputs[1].shape);
  return {pointwise_output(name, inputs, inputs[0].dtype)};
}

/// Calls visit(index of a row's first element, stride, length) for every row of a row-major array.
template <class Visit>
void visit_rows(const Shape& shape, int64_t axis, Visit visit) {
  const int rank = shape.rank(), chosen = int(axis < 0 ? axis + rank : axis);
  int64_t inner = 1;
  for (int i = chosen + 1; i < rank; ++i) inner *= shape[i];
  const int64_t length = rank == 0 ? 1 : shape[chosen], rows = length == 0 ? 0 : shape.numel() / length;
  for (int64_t row = 0; row < rows; ++row) visit(row / inner * inner * length + row % inner, inner, length);
}

template <bool logarithm>
std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  ReferenceTensor y = inputs[0];
  visit_rows(y.shape, attributes.as<SoftmaxOptions>().axis,
             [&](int64_t first, int64_t stride, int64_t length) {
               double *row = &y.values[first], largest = row[0], sum = 0;
               for (int64_t i = 1; i < length; ++i) largest = std::max(largest, row[i * stride]);
               for (int64_t i = 0; i < length; ++i) sum += std::exp(row[i * stride] - largest);
               for (int64_t i = 0; i < length; ++i) {
                 const double log_y = row[i * stride] - largest - std::log(sum);
                 row[i * stride] = logarithm ? log_y : std::exp(log_y);
               }
             });
  return {y};
}

template <bool logarithm>
std::vector<ReferenceTensor> gradient_reference(ReferenceInputs inputs, const Attributes& attributes) {
  ReferenceTensor dx = inputs[1];
  visit_rows(dx.shape, attributes.as<SoftmaxOptions>().axis,
             [&](int64_t first, int64_t stride, int64_t length) {
               const double* y = &inputs[0].values[first];
               double *row = &dx.values[first], sum = 0;
               for (int64_t i = 0; i < length; ++i) sum += row[i * stride] * (logarithm ? 1 : y[i * stride]);
               for (int64_t i = 0; i < length; ++i) {
                 if (logarithm)
                   row[i * stride] -= std::exp(y[i * stride]) * sum;
                 else
                   row[i * stride] = y[i * stride] * (row[i * stride] - sum);
               }
             });
  return {dx};
}

template <bool logarithm>
std::vector<Tensor> gradient(const GradientContext& context) {
  static const Op& op = op_named(kGradientName<logarithm>);
  return apply(op, {context.output(0), context.upstream()}, context.attributes());
}

/// The gradients of y·(dy - Σ dy·y), or of dy - e^y · Σ dy.
template <bool logarithm>
std::vector<Tensor> gradient_of_gradient(const GradientContext& context) {
  const int64_t axis = context.options<SoftmaxOptions>().axis;
  const Dims axes = context.input_spec(0).shape.rank() > 0 ? Dims{axis} : Dims{};
  return gradient_through(context, {context.input(0), context.input(1)}, [&](const std::vector<Tensor>& x) {
    const Tensor &y = x[0], &dy = x[1];
    if (logarithm) return std::vector{dy - exp(y) * sum(dy, axes, true)};
    return std::vector{y * (dy - sum(dy * y, axes, true))};
  });
}

/// Along a row of n: n roundings of its sum, and the roundings of x - max and of e^x, which the largest |x|
/// scales.
ErrorModel error(Specs inputs, const Attributes& attributes) {
  const Shape& shape = inputs[0].shape;
  const int64_t axis = attributes.as<SoftmaxOptions>().axis;
  return {ErrorModel::largest_input, double(shape.rank() == 0 ? 1 : shape[int(axis)]) + 8};
}

struct RowCase {
  const char* label;
  Shape shape;
  int64_t axis;
  TestLayout layout = TestLayout::contiguous;
};

std::vector<RowCase> row_cases() {
  return {{"rows", {5, 10}, -1},
          {"longer rows", {3, 129}, 1},
          {"long rows", {2, 1283}, 1},
          {"columns", {37, 9}, 0},
          {"middle", {3, 11, 4}, 1},
          {"channels_last", {2, 7, 3, 5}, 1, TestLayout::channels_last},
          {"transposed", {4, 6, 3}, -1, TestLayout::transposed},
          {"sliced", {6, 11}, 1, TestLayout::sliced},
          {"expanded", {6, 11}, 1, TestLayout::expanded},
          {"one class", {4, 1}, -1},
          {"one", {1}, 0},
          {"rank 0", {}, -1},
          {"no rows", {0, 7}, 1},
          {"no classes", {3, 0}, 1}};
}

/// A row of one element is constant: its gradient is zero, which finite differences cannot tell from a
/// missing one.
std::vector<TestCase> cases() {
  std::vector<TestCase> list;
  for (const RowCase& one : row_cases()) {
    TestInput x{one.shape, {}, one.layout};
    x.differentiable = one.shape.rank() > 0 && one.shape[int(one.axis)] > 1;
    list.push_back({one.label, {x}, Attributes::of(SoftmaxOptions{one.axis})});
  }
  list.push_back({"far apart", {{{4, 33}, {TestFill::apart, -90, 90}}}, Attributes::of(SoftmaxOptions{})});
  // e^x turns the rounding of x - max into a relative error of |x - max|, which the gradient's bound leaves
  // out.
  list.back().inputs[0].differentiable = false;
  return list;
}

template <bool logarithm>
std::vector<RefusedCall> refused_calls() {
  return {refuses<ShapeError>({{{2, 3}}}, {kName<logarithm>, "axis 2"}, Attributes::of(SoftmaxOptions{2}))};
}

/// y as large as a softmax of that length may well have it, so that sums stay near 1.
template <bool logarithm>
std::vector<TestCase> gradient_cases() {
  std::vector<TestCase> list;
  for (const RowCase& one : row_cases()) {
    const double length = one.shape.rank() ? double(std::max<int64_t>(1, one.shape[int(one.axis)])) : 1;
    const TestFill y = logarithm ? TestFill{TestFill::apart, -3 - std::log(length), -std::log(length)}
                                 : TestFill{TestFill::apart, 0, 2 / length};
    list.push_back(
        {one.label, {{one.shape, y, one.layout}, {one.shape}}, Attributes::of(SoftmaxOptions{one.axis})});
  }
  return list;
}

std::vector<BenchCase> bench_cases(DeviceKind device) {
  if (device == DeviceKind::simt)
    return {{"64×512", {{64, 512}}, Attributes::of(SoftmaxOptions{})},
            {"8×2048", {{8, 2048}}, Attributes::of(SoftmaxOptions{})}};
  return {{"4096×1000", {{4096, 1000}}, Attributes::of(SoftmaxOptions{})}};
}

template <bool logarithm>
void add_ops(Registry& registry, const char* summary, const char* gradient_summary) {
  registry.add({.name = kName<logarithm>,
                .summary = summary,
                .options = &schema_of<SoftmaxOptions>(),
                .autocast = AutocastPolicy::full,
                .infer = infer<logarithm>,
                .reference = reference<logarithm>,
                .rows =
                    [](Specs inputs, const Attributes& a) {
                      return rows_of_first_but_along(a.as<SoftmaxOptions>().axis, inputs);
                    },
                .gradient = gradient<logarithm>,
                .saves = {{Saved::output, 0}},
                .cases = cases,
                .refused_calls = refused_calls<logarithm>,
                .error = error,
                .operations = for_each_output(5),
                .bench_cases = bench_cases});
  registry.add({.name = kGradientName<logarithm>,
                .summary = gradient_summary,
                .options = &schema_of<SoftmaxOptions>(),
                .infer = infer_gradient<logarithm>,
                .reference = gradient_reference<logarithm>,
                .gradient = gradient_of_gradient<logarithm>,
                .saves = {{Saved::input, 0}, {Saved::input, 1}},
                .cases = gradient_cases<logarithm>,
                .error = error,
                .operations = for_each_output(4)});
}

}  // namespace

namespace ops {

void register_softmax(Registry& registry) {
  add_ops<false>(registry, "y = e^x / Σ e^x along axis", "dx = y·(dy - Σ dy·y)");
  add_ops<true>(registry, "y = x - log Σ e^x along axis", "dx = dy - e^y · Σ dy");
}

}  // namespace ops

const Op& softmax_op() {
  static const Op& op = op_named("softmax");
  return op;
}

Tensor softmax(const Tensor& x, int64_t axis) {
  const Op& op = softmax_op();
  return apply(op, {x}, Attributes::of(SoftmaxOptions{axis}))[0];
}

const Op& softmax_gradient_op() {
  static const Op& op = op_named("softmax_gradient");
  return op;
}

Tensor softmax_gradient(const Tensor& y, const Tensor& dy, int64_t axis) {
  const Op& op = softmax_gradient_op();
  return apply(op, {y, dy}, Attributes::of(SoftmaxOptions{axis}))[0];
}

Tensor log_softmax(const Tensor& x, int64_t axis) {
  static const Op& op = op_named("log_softmax");
  return apply(op, {x}, Attributes::of(SoftmaxOptions{axis}))[0];
}

}  // namespace treadle
