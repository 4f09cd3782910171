#include "treadle/ops/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/attention/attention_gradient.h"
#include "treadle/ops/attention/attention_shapes.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/fill/fill_options.h"
#include "treadle/ops/layout/declaration/convert.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/softmax/softmax.h"
#include "treadle/ops/softmax/softmax_options.h"

namespace treadle {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  check_attention("attention", inputs, attributes.as<AttentionOptions>());
  const Shape &q = inputs[0].shape, &k = inputs[1].shape, &v = inputs[2].shape, weights = weights_shape(q, k);
  if (inputs.size() > 3 && inputs[3].defined)
    broadcast_strides(inputs[3].shape, inputs[3].strides, weights);  // throws where it does not fit
  return {laid_out_as(inputs[0], ending_with(q, q[-2], v[-1])), TensorSpec::of(weights, inputs[0].dtype)};
}

/// One row of weights from its scores.
void softmax_row(double* row, int64_t count) {
  double largest = kHidden, sum = 0;
  for (int64_t j = 0; j < count; ++j) largest = std::fmax(largest, row[j]);
  for (int64_t j = 0; j < count; ++j) sum += row[j] = std::exp(row[j] - largest);
  for (int64_t j = 0; j < count; ++j) row[j] /= sum;
}

/// The mask with that shape, or zeros.
ReferenceTensor broadcast_mask(ReferenceInputs inputs, const Shape& shape) {
  auto result = ReferenceTensor::zeros(shape);
  if (inputs.size() < 4 || !inputs[3].defined) return result;
  const ReferenceTensor& mask = inputs[3];
  const Strides strides = broadcast_strides(mask.shape, contiguous_strides(mask.shape), shape);
  for (int64_t i = 0; i < shape.numel(); ++i) {
    int64_t place = 0, rest = i;
    for (int axis = shape.rank() - 1; axis >= 0; rest /= shape[axis--])
      place += rest % shape[axis] * strides[axis];
    result.values[size_t(i)] = mask.values[size_t(place)];
  }
  return result;
}

/// Those of each pair of matrices; of the mask where it has as many.
std::vector<int> rows(Specs inputs, const Attributes& attributes) {
  return inputs[0].shape.rank() > 2 ? rows_of_broadcast(inputs, attributes) : std::vector<int>{};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  const auto& options = attributes.as<AttentionOptions>();
  const ReferenceTensor &q = inputs[0], &k = inputs[1], &v = inputs[2];
  const int64_t L = q.shape[-2], E = q.shape[-1], S = k.shape[-2], D = v.shape[-1];
  auto y = ReferenceTensor::zeros(ending_with(q.shape, L, D)),
       weights = broadcast_mask(inputs, ending_with(q.shape, L, S));
  for (int64_t row = 0; row < weights.shape.numel() / std::max<int64_t>(S, 1); ++row) {
    const int64_t batch = row / L;
    double* scores = &weights.values[row * S];
    for (int64_t j = 0; j < S; ++j) {
      double product = 0;
      for (int64_t e = 0; e < E; ++e) product += q.values[row * E + e] * k.values[(batch * S + j) * E + e];
      scores[j] =
          options.causal && j > row % L ? kHidden : scores[j] + product * attention_scale(options, q.shape);
    }
    softmax_row(scores, S);
    for (int64_t j = 0; j < S; ++j)
      for (int64_t d = 0; d < D; ++d) y.values[row * D + d] += scores[j] * v.values[(batch * S + j) * D + d];
  }
  return {y, weights};
}

/// With p the weights: dp = dy·vᵀ, ds by softmax; dq = scale·ds·k, dk = scale·dsᵀ·q, dv = pᵀ·dy.
std::vector<Tensor> gradient_by_steps(const GradientContext& context) {
  auto transposed = [](const Tensor& x) { return transpose(x, -2, -1); };
  const Tensor dy = context.upstream(0), of_weights = context.upstream(1), p = context.output(1);
  const double scale = attention_scale(context.options<AttentionOptions>(), context.input_spec(0).shape);
  std::vector<Tensor> result(4);
  if (context.needs(2) && dy.defined()) result[2] = matmul(transposed(p), dy);
  if (!context.needs(0) && !context.needs(1) && !context.needs(3)) return result;
  Tensor dp = dy.defined() ? matmul(dy, transposed(context.input(2))) : of_weights;
  if (dy.defined() && of_weights.defined()) dp = dp + of_weights;
  const Tensor ds = softmax_gradient(p, dp);
  if (context.needs(0)) result[0] = matmul(ds, context.input(1)) * scale;
  if (context.needs(1)) result[1] = matmul(transposed(ds), context.input(0)) * scale;
  if (context.needs(3)) result[3] = sum_to(ds, context.input_spec(3).shape);
  return result;
}

/// By one op where y alone is used and q, k and v alone are to be learned, as nearly everywhere.
std::vector<Tensor> gradient(const GradientContext& context) {
  const bool usual = context.needs(0) && context.needs(1) && context.needs(2) && !context.needs(3) &&
                     !context.upstream(1).defined();
  if (!usual) return gradient_by_steps(context);
  const auto [dq, dk, dv] =
      attention_gradient(context.input(0), context.input(1), context.input(2), context.output(1),
                         context.upstream(0), context.options<AttentionOptions>());
  return {dq, dk, dv, Tensor()};
}

/// -∞ for the keys behind each query.
void hide_later_keys(const Composition& call, const TensorView& scores) {
  static const Attributes counting = Attributes::of(ArangeOptions{0, 1});
  const int64_t L = scores.shape[-2], S = scores.shape[-1];
  const TensorView queries = call.scratch({L, 1}, DType::i64), keys = call.scratch({1, S}, DType::i64),
                   seen = call.scratch({L, S}, DType::boolean);
  call.run(arange_op(), {queries}, {queries}, counting);
  call.run(arange_op(), {keys}, {keys}, counting);
  call.run(greater_equal_op(), {queries, keys}, {seen});
  call.run(where_op(), {seen, scores, number(call, kHidden, scores.dtype)}, {scores});
}

/// Half types are computed in f32 and rounded once.
void compose(const Composition& call) {
  static const Attributes along_rows = Attributes::of(SoftmaxOptions{-1});
  const auto& options = call.options<AttentionOptions>();
  const TensorView &y = call.output(0), &weights = call.output(1);
  const DType dtype = wide_dtype(y.dtype);
  auto exactly = [&](int input) { return as_dtype(call, call.input(input), dtype); };
  auto result = [&](const TensorView& output) {
    return output.dtype == dtype && output.contiguous() ? output : call.scratch(output.shape, dtype);
  };
  const TensorView q = call.scratch(call.input(0).shape, dtype), scores = call.scratch(weights.shape, dtype),
                   p = result(weights), exact = result(y);
  call.run(mul_op(), {exactly(0), number(call, attention_scale(options, q.shape), dtype)}, {q});
  call.run(matmul_op(), {q, matrices_transposed(exactly(1))}, {scores});
  if (call.has_input(3)) call.run(add_op(), {scores, exactly(3)}, {scores});
  if (options.causal) hide_later_keys(call, scores);
  call.run(softmax_op(), {scores}, {p}, along_rows);
  call.run(matmul_op(), {p, exactly(2)}, {exact});
  if (p.data != weights.data) convert(call, p, weights);
  if (exact.data != y.data) convert(call, exact, y);
}

/// Heads of `queries` and `keys`; the values have another number of features than they.
TestCase one(const char* label, const Shape& batch, int64_t queries, int64_t keys, int64_t features,
             const AttentionOptions& options = {}, TestLayout layout = TestLayout::contiguous) {
  auto shape = [&](int64_t rows, int64_t columns) { return matrices_of(batch, rows, columns); };
  return {label,
          {{shape(queries, features), {}, layout},
           {shape(keys, features), {}, layout},
           {shape(keys, features + 1), {}, layout}},
          Attributes::of(options)};
}

TestCase with_mask(TestCase test_case, const Shape& mask) {
  test_case.inputs.push_back({mask});
  return test_case;
}

TestCase without_mask(TestCase test_case) {
  test_case.inputs.push_back({.shape = {}, .defined = false});
  return test_case;
}

TestCase not_differentiable(TestCase test_case, std::initializer_list<int> inputs) {
  for (int i : inputs) test_case.inputs[size_t(i)].differentiable = false;
  return test_case;
}

/// The gradients of a mask that is broadcast along the keys, and of q where all k or v are alike, are what
/// rounding leaves of terms that cancel: cases that others are made of are not differentiated there.
std::vector<TestCase> cases() {
  using enum TestLayout;
  const AttentionOptions causal{.causal = true};
  return {one("heads", {2, 3}, 5, 7, 4),
          without_mask(one("mask left out", {2, 3}, 5, 7, 4)),
          not_differentiable(one("no batch", {}, 4, 6, 3), {0, 1}),
          one("causal", {2, 2}, 6, 6, 4, causal),
          one("causal, more queries", {2}, 7, 4, 3, causal),
          one("causal, more keys", {2}, 3, 8, 5, causal),
          one("scaled", {3}, 4, 5, 6, {.scale = 0.1}),
          with_mask(one("mask", {2}, 5, 7, 4), {5, 7}),
          not_differentiable(with_mask(one("mask of keys", {2, 3}, 5, 7, 4), {2, 1, 1, 7}), {3}),
          not_differentiable(with_mask(one("mask, causal", {2}, 5, 6, 4, causal), {2, 5, 6}), {3}),
          one("long", {2}, 33, 70, 16),
          not_differentiable(with_mask(one("blocks of queries", {2}, 101, 9, 3), {101, 9}), {3}),
          one("blocks of queries, causal", {2}, 101, 99, 3, causal),
          one("transposed", {2, 3}, 5, 4, 6, {}, transposed),
          one("sliced", {2, 3}, 5, 4, 6, causal, sliced),
          one("no batches", {0, 2}, 5, 4, 6),
          one("no queries", {2}, 0, 4, 6)};
}

std::vector<RefusedCall> refused_calls() {
  const TestInput q{{2, 5, 4}}, k{{2, 7, 4}}, v{{2, 7, 3}};
  const AttentionOptions negative{.scale = -1}, infinite{.scale = INFINITY};
  return {refuses<ValueError>({q, k, v}, {"scale -1"}, Attributes::of(negative)),
          refuses<ValueError>({q, k, v}, {"scale inf"}, Attributes::of(infinite)),
          refuses<ShapeError>({q, {{2, 7, 3}}, v}, {"[2, 5, 4]", "[2, 7, 3]", "4 and 3 features"}),
          refuses<ShapeError>({q, k, {{2, 6, 3}}}, {"[2, 7, 4]", "[2, 6, 3]", "7 and 6 rows"}),
          refuses<ShapeError>({q, {{3, 7, 4}}, v}, {"k [3, 7, 4]", "[2, 5, 4]"}),
          refuses<ShapeError>({q, k, {{7, 3}}}, {"v [7, 3]"}),
          refuses<ShapeError>({{{4}}, {{4}}, {{4}}}, {"[4]", "[..., L, E]"}),
          refuses<ShapeError>({q, k, v, {{5, 6}}}, {"[5, 6]", "[2, 5, 7]"}),
          refuses<DTypeError>({q, k, {.shape = v.shape, .dtype = {DType::f64}}}, {"f32", "f64"})};
}

/// A score is a sum of E products, scaled, of numbers of at most 2; it moves weights by a share of them,
/// twice with that of their sum, and y by twice as much. Then come the sums of S weights and of S products.
ErrorModel error(Specs inputs, const Attributes& attributes) {
  const Shape& q = inputs[0].shape;
  const double features = double(q[-1]),
               of_score =
                   4 * features * attention_scale(attributes.as<AttentionOptions>(), q) * (features + 3);
  return {ErrorModel::largest_input, 4 * of_score + 2 * double(inputs[1].shape[-2]) + 16};
}

/// Two products and their sums for each weight, and what softmax takes.
double operations(const Call& call) {
  const double features = double(call.input(0).shape[-1] + call.input(2).shape[-1]);
  return (2 * features + 5) * elements(call.output(1));
}

std::vector<BenchCase> bench_cases(DeviceKind device) {
  if (device == DeviceKind::simt) return {};
  const Shape small{32, 4, 50, 16}, heads{8, 12, 197, 64}, text{4, 12, 1024, 64};
  return {{"32×4 heads of 50×16", {small, small, small}, Attributes::of(AttentionOptions{})},
          {"8×12 heads of 197×64", {heads, heads, heads}, Attributes::of(AttentionOptions{})},
          {"4×12 heads of 1024×64, causal",
           {text, text, text},
           Attributes::of(AttentionOptions{.causal = true})}};
}

}  // namespace

namespace ops {

void register_attention(Registry& registry) {
  registry.add({.name = "attention",
                .summary = "weights = softmax(scale · q·kᵀ + mask) [..., L, S], y = weights·v",
                .options = &schema_of<AttentionOptions>(),
                .autocast = AutocastPolicy::low,
                .optional = {3},
                .infer = infer,
                .reference = reference,
                .rows = rows,
                .gradient = gradient,
                .saves = {{Saved::input, 0}, {Saved::input, 1}, {Saved::input, 2}, {Saved::output, 1}},
                .compose = compose,
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .operations = operations,
                .bench_cases = bench_cases});
}

}  // namespace ops

AttentionResult scaled_dot_product_attention_with_weights(const Tensor& q, const Tensor& k, const Tensor& v,
                                                          const Tensor& mask,
                                                          const AttentionOptions& options) {
  static const Op& op = op_named("attention");
  const bool chooses = mask.defined() && mask.dtype() == DType::boolean && q.defined();
  const Tensor added = chooses ? where(mask, scalar_like(0, q), scalar_like(kHidden, q)) : mask;
  const auto outputs = apply(op, {q, k, v, added}, Attributes::of(options));
  return {outputs[0], outputs[1]};
}

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                                    const AttentionOptions& options) {
  return scaled_dot_product_attention_with_weights(q, k, v, mask, options).y;
}

}  // namespace treadle
