#include "treadle/ops/layout/index_select.h"

#include <cstring>

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/index_select_options.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle {
namespace {

void check_indices(const TensorSpec& indices) {
  require<DTypeError>(indices.dtype == DType::i64 || indices.dtype == DType::i32,
                      "index_select: indices are i64 or i32, not {}", name_of(indices.dtype));
  require<ShapeError>(indices.shape.rank() == 1, "index_select: indices have one axis, not shape {}",
                      indices.shape);
}

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  Shape shape = inputs[0].shape;
  int axis = normalize_axis(attributes.as<IndexSelectOptions>().axis, shape.rank(), "index_select");
  check_indices(inputs[1]);
  shape[axis] = inputs[1].shape[0];
  return {TensorSpec::of(shape, inputs[0].dtype)};
}

std::vector<int> rows(Specs inputs, const Attributes& attributes) {
  const int rank = inputs[0].shape.rank();
  const int axis = normalize_axis(attributes.as<IndexSelectOptions>().axis, rank, "index_select");
  return {axis == 0 ? 1 : 0};
}

std::vector<TensorSpec> infer_gradient(Specs inputs, const Attributes& attributes) {
  const auto& options = attributes.as<IndexSelectGradientOptions>();
  Shape shape = inputs[0].shape;
  int axis = normalize_axis(options.axis, shape.rank(), "index_select_gradient");
  check_indices(inputs[1]);
  require<ShapeError>(options.extent >= 0, "index_select_gradient: the extent {} is negative",
                      options.extent);
  require<ShapeError>(shape[axis] == inputs[1].shape[0],
                      "index_select_gradient: dy has shape {}, there are {} indices along axis {}", shape,
                      inputs[1].shape[0], axis);
  shape[axis] = options.extent;
  return {TensorSpec::of(shape, inputs[0].dtype)};
}

/// Calls f(position in the indexed tensor, position in the other) with row-major positions; `shape` is the
/// other's.
template <class F>
void for_each_pair(const Shape& shape, int axis, int64_t extent, const std::vector<double>& indices, F f) {
  int64_t inner = 1, count = shape[axis];
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  for (int64_t i = 0; i < shape.numel(); ++i)
    f((i / inner / count * extent + int64_t(indices[i / inner % count])) * inner + i % inner, i);
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  Shape shape = inputs[0].shape;
  int axis = normalize_axis(attributes.as<IndexSelectOptions>().axis, shape.rank(), "index_select");
  int64_t extent = shape[axis];
  shape[axis] = inputs[1].shape[0];
  ReferenceTensor y = ReferenceTensor::zeros(shape);
  for_each_pair(shape, axis, extent, inputs[1].values,
                [&](int64_t from, int64_t to) { y.values[to] = inputs[0].values[from]; });
  return {y};
}

std::vector<ReferenceTensor> reference_gradient(ReferenceInputs inputs, const Attributes& attributes) {
  const auto& options = attributes.as<IndexSelectGradientOptions>();
  Shape shape = inputs[0].shape;
  int axis = normalize_axis(options.axis, shape.rank(), "index_select_gradient");
  shape[axis] = options.extent;
  ReferenceTensor dx = ReferenceTensor::zeros(shape);
  for_each_pair(inputs[0].shape, axis, options.extent, inputs[1].values,
                [&](int64_t to, int64_t from) { dx.values[to] += inputs[0].values[from]; });
  return {dx};
}

std::vector<Tensor> gradient(const GradientContext& context) {
  int64_t axis = context.options<IndexSelectOptions>().axis;
  int64_t extent = context.input_spec(0).shape[int(axis)];
  return {index_select_gradient(context.upstream(), axis, context.input(1), extent), Tensor()};
}

std::vector<Tensor> gradient_of_gradient(const GradientContext& context) {
  return {
      index_select(context.upstream(), context.options<IndexSelectGradientOptions>().axis, context.input(1)),
      Tensor()};
}

TestInput indices(int64_t count, int64_t extent, DType dtype, TestLayout layout = TestLayout::contiguous) {
  return {{count}, {TestFill::integers, 0, double(extent - 1)}, layout, {dtype}, true, false};
}

std::vector<TestCase> cases() {
  auto one = [](const char* label, Shape shape, int64_t axis, int64_t count, DType dtype = DType::i64,
                TestLayout layout = TestLayout::contiguous) {
    return TestCase{label,
                    {{shape, {}, layout}, indices(count, shape[int(axis)], dtype)},
                    Attributes::of(IndexSelectOptions{axis})};
  };
  return {one("rows", {7, 5}, 0, 12),
          one("columns", {4, 6}, -1, 9, DType::i32),
          one("middle", {3, 5, 4}, 1, 2),
          one("vector", {9}, 0, 3),
          one("nothing", {4, 3}, 0, 0),
          one("empty batch", {0, 3}, 1, 2),
          one("transposed", {5, 4, 3}, 1, 6, DType::i64, TestLayout::transposed),
          one("channels_last", {2, 5, 3, 4}, 1, 4, DType::i32, TestLayout::channels_last)};
}

std::vector<TestCase> gradient_cases() {
  auto one = [](const char* label, Shape shape, int64_t axis, int64_t extent, DType dtype = DType::i64,
                TestLayout layout = TestLayout::contiguous) {
    return TestCase{label,
                    {{shape, {}, layout}, indices(shape[int(axis)], extent, dtype)},
                    Attributes::of(IndexSelectGradientOptions{axis, extent})};
  };
  return {one("rows", {12, 5}, 0, 4),
          one("columns", {4, 9}, -1, 6, DType::i32),
          one("all the same", {33, 3}, 0, 1),
          one("middle", {3, 2, 4}, 1, 5),
          one("vector", {40}, 0, 7),
          one("nothing", {0, 3}, 0, 4),
          one("transposed", {5, 6, 3}, 1, 4, DType::i64, TestLayout::transposed),
          one("channels_last", {2, 4, 3, 4}, 1, 5, DType::i32, TestLayout::channels_last)};
}

std::vector<RefusedCall> refused_calls() {
  const TestInput x{{2, 3}};
  auto index = [](double value) {
    return TestInput{.shape = {1}, .fill = {TestFill::constant, value}, .dtype = {DType::i64}};
  };
  return {
      refuses<ValueError>({x, index(2)}, {"index 2", "[0, 2)"}),
      refuses<ValueError>({x, index(-1)}, {"index -1"}),
      refuses<ShapeError>({x, index(0)}, {"index_select", "axis 2"}, Attributes::of(IndexSelectOptions{2})),
      refuses<DTypeError>({x, {{1}}}, {"i64", "f32"}),
      refuses<ShapeError>({x, {.shape = {1, 2}, .dtype = {DType::i64}}}, {"[1, 2]"})};
}

std::vector<RefusedCall> gradient_refused_calls() {
  auto with = [](int64_t axis, int64_t extent, std::vector<std::string> says) {
    return refuses<ShapeError>({{{2, 3}}, indices(2, 2, DType::i64)}, std::move(says),
                               Attributes::of(IndexSelectGradientOptions{axis, extent}));
  };
  return {with(0, -1, {"-1"}), with(0, INT64_MAX / 2, {"too many"}), with(1, 5, {"[2, 3]", "2 indices"})};
}

/// A sum of as many terms as there are indices, at most.
ErrorModel gradient_error(Specs inputs, const Attributes&) {
  return {ErrorModel::absolute_inputs, double(inputs[1].shape[0] + 1)};
}

}  // namespace

namespace ops {

void register_index_select(Registry& registry) {
  registry.add({.name = "index_select",
                .summary = "y[…, i, …] = x[…, indices[i], …]",
                .options = &schema_of<IndexSelectOptions>(),
                .dtypes = kEveryDType,
                .infer = infer,
                .reference = reference,
                .rows = rows,
                .gradient = gradient,
                .saves = {{Saved::input, 1}},
                .cases = cases,
                .refused_calls = refused_calls,
                .operations = no_operations()});
  registry.add({.name = "index_select_gradient",
                .summary = "dx[…, j, …] = Σ dy[…, i, …] over i with indices[i] = j",
                .options = &schema_of<IndexSelectGradientOptions>(),
                .infer = infer_gradient,
                .reference = reference_gradient,
                .gradient = gradient_of_gradient,
                .saves = {{Saved::input, 1}},
                .cases = gradient_cases,
                .refused_calls = gradient_refused_calls,
                .error = gradient_error,
                .operations = for_each_of_input(0, 1)});
}

}  // namespace ops

const Op& index_select_op() {
  static const Op& op = op_named("index_select");
  return op;
}

Tensor index_select(const Tensor& x, int64_t axis, const Tensor& indices) {
  const Op& op = index_select_op();
  return apply(op, {x, indices}, Attributes::of(IndexSelectOptions{axis}))[0];
}

Tensor elements_of_rows(const Tensor& x, const Tensor& positions) {
  const int64_t rows = x.size(0), length = x.size(1);
  const Tensor row = arange(0, double(rows), 1, DType::i64, x.device());
  const Tensor first = reshape(row * length, {rows, 1});
  const Tensor places = reshape(cast(positions, DType::i64) + first, {positions.numel()});
  return reshape(index_select(reshape(x, {x.numel()}), 0, places), positions.shape());
}

Tensor index_select_gradient(const Tensor& dy, int64_t axis, const Tensor& indices, int64_t extent) {
  static const Op& op = op_named("index_select_gradient");
  return apply(op, {dy, indices}, Attributes::of(IndexSelectGradientOptions{axis, extent}))[0];
}

}  // namespace treadle
