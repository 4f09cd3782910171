#include "treadle/ops/attention/attention_gradient.h"

#include "treadle/graph/autograd.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/attention/attention_shapes.h"
#include "treadle/ops/layout/declaration/convert.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/softmax/softmax.h"
#include "treadle/ops/softmax/softmax_options.h"

namespace treadle {
namespace {

constexpr const char* kName = "attention_gradient";
enum Operand { kQ, kK, kV, kWeights, kDy };

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  check_attention(kName, inputs, attributes.as<AttentionOptions>());
  const Shape &q = inputs[kQ].shape, &k = inputs[kK].shape, &v = inputs[kV].shape,
              &weights = inputs[kWeights].shape, &dy = inputs[kDy].shape;
  require<ShapeError>(weights == weights_shape(q, k), "{}: weights have shape {}; of q {} and k {} it is {}",
                      kName, weights, q, k, weights_shape(q, k));
  require<ShapeError>(dy == ending_with(q, q[-2], v[-1]), "{}: dy has shape {}; of q {} and v {} it is {}",
                      kName, dy, q, v, ending_with(q, q[-2], v[-1]));
  return {laid_out_as(inputs[kQ], q), laid_out_as(inputs[kK], k), laid_out_as(inputs[kV], v)};
}

/// Those of each pair of matrices.
std::vector<int> rows(Specs inputs, const Attributes&) {
  return inputs[kQ].shape.rank() > 2 ? std::vector<int>{kQ, kK, kV, kWeights, kDy} : std::vector<int>{};
}

/// One query: its row of dq, and what it adds to dk and dv of its head.
struct ReferenceRow {
  const double *q, *k, *v, *weights, *dy;
  double *dq, *dk, *dv;

  void add(int64_t E, int64_t S, int64_t D, double scale) const {
    std::vector<double> ds(size_t(S), 0.0);
    double sum = 0;
    for (int64_t j = 0; j < S; ++j) {
      for (int64_t d = 0; d < D; ++d)
        ds[size_t(j)] += dy[d] * v[j * D + d], dv[j * D + d] += weights[j] * dy[d];
      sum += weights[j] * ds[size_t(j)];
    }
    for (int64_t j = 0; j < S; ++j)
      for (int64_t e = 0; e < E; ++e) {
        const double of_score = scale * weights[j] * (ds[size_t(j)] - sum);
        dq[e] += of_score * k[j * E + e];
        dk[j * E + e] += of_score * q[e];
      }
  }
};

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  const Shape &q = inputs[kQ].shape, &k = inputs[kK].shape, &v = inputs[kV].shape;
  const int64_t L = q[-2], E = q[-1], S = k[-2], D = v[-1];
  auto dq = ReferenceTensor::zeros(q), dk = ReferenceTensor::zeros(k), dv = ReferenceTensor::zeros(v);
  const int64_t rows = ending_with(q, L, 1).numel();
  auto at = [](const ReferenceTensor& x, int64_t offset) { return x.values.data() + offset; };
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t head = row / L;
    ReferenceRow{at(inputs[kQ], row * E),          at(inputs[kK], head * S * E),
                 at(inputs[kV], head * S * D),     at(inputs[kWeights], row * S),
                 at(inputs[kDy], row * D),         &dq.values[size_t(row * E)],
                 &dk.values[size_t(head * S * E)], &dv.values[size_t(head * S * D)]}
        .add(E, S, D, attention_scale(attributes.as<AttentionOptions>(), q));
  }
  return {dq, dk, dv};
}

std::vector<Tensor> formula(const std::vector<Tensor>& x, const AttentionOptions& options) {
  auto transposed = [](const Tensor& m) { return transpose(m, -2, -1); };
  const Tensor ds = softmax_gradient(x[kWeights], matmul(x[kDy], transposed(x[kV]))) *
                    attention_scale(options, x[kQ].shape());
  return {matmul(ds, x[kK]), matmul(transposed(ds), x[kQ]), matmul(transposed(x[kWeights]), x[kDy])};
}

std::vector<Tensor> gradient(const GradientContext& context) {
  std::vector<Tensor> operands;
  for (int i : {kQ, kK, kV, kWeights, kDy}) operands.push_back(context.input(i));
  return gradient_through(context, operands, [&](const std::vector<Tensor>& x) {
    return formula(x, context.options<AttentionOptions>());
  });
}

/// Half types are computed in f32 and rounded once.
void compose(const Composition& call) {
  static const Attributes along_rows = Attributes::of(SoftmaxOptions{-1});
  const DType dtype = wide_dtype(call.output().dtype);
  auto exactly = [&](int input) { return as_dtype(call, call.input(input), dtype); };
  auto multiply = [&](const TensorView& a, const TensorView& b, const TensorView& result) {
    const bool fits = result.dtype == dtype && result.contiguous();
    const TensorView target = fits ? result : call.scratch(result.shape, dtype);
    call.run(matmul_op(), {a, b}, {target});
    if (!fits && result.numel() > 0) convert(call, target, result);
  };
  const TensorView weights = exactly(kWeights), dy = exactly(kDy);
  const TensorView dp = call.scratch(weights.shape, dtype), ds = call.scratch(weights.shape, dtype);
  const double scale = attention_scale(call.options<AttentionOptions>(), call.input(kQ).shape);
  multiply(dy, matrices_transposed(exactly(kV)), dp);
  call.run(softmax_gradient_op(), {weights, dp}, {ds}, along_rows);
  call.run(mul_op(), {ds, number(call, scale, dtype)}, {ds});
  multiply(ds, exactly(kK), call.output(0));
  multiply(matrices_transposed(ds), exactly(kQ), call.output(1));
  multiply(matrices_transposed(weights), dy, call.output(2));
}

/// Weights as large as those of so many keys may well be, so that their sums stay near 1.
TestCase one(const char* label, const Shape& batch, int64_t L, int64_t S, int64_t E,
             const AttentionOptions& options = {}, TestLayout layout = TestLayout::contiguous) {
  auto shape = [&](int64_t rows, int64_t columns) { return matrices_of(batch, rows, columns); };
  const TestFill weights{TestFill::apart, 0, 2.0 / double(std::max<int64_t>(S, 1))};
  return {label,
          {{shape(L, E), {}, layout},
           {shape(S, E), {}, layout},
           {shape(S, E + 1), {}, layout},
           {shape(L, S), weights, layout},
           {shape(L, E + 1), {}, layout}},
          Attributes::of(options)};
}

/// Without queries dk and dv are zeros, whatever k and v are.
TestCase no_queries() {
  TestCase none = one("no queries", {2}, 0, 4, 6);
  none.inputs[kK].differentiable = none.inputs[kV].differentiable = false;
  return none;
}

std::vector<TestCase> cases() {
  using enum TestLayout;
  return {one("heads", {2, 3}, 5, 7, 4),
          one("no batch", {}, 4, 6, 3),
          one("scaled", {3}, 4, 5, 6, {.scale = 0.1}),
          one("long", {2}, 33, 70, 16),
          one("blocks of queries", {2}, 101, 9, 15),
          one("transposed", {2, 3}, 5, 4, 6, {}, transposed),
          one("sliced", {2, 3}, 5, 4, 6, {}, sliced),
          one("no batches", {0, 2}, 5, 4, 6),
          no_queries()};
}

std::vector<RefusedCall> refused_calls() {
  const TestInput q{{2, 5, 4}}, k{{2, 7, 4}}, v{{2, 7, 3}}, weights{{2, 5, 7}}, dy{{2, 5, 3}};
  const AttentionOptions negative{.scale = -1};
  return {refuses<ValueError>({q, k, v, weights, dy}, {"scale -1"}, Attributes::of(negative)),
          refuses<ShapeError>({q, k, v, {{2, 5, 6}}, dy}, {"[2, 5, 6]", "[2, 5, 7]"}),
          refuses<ShapeError>({q, k, v, weights, {{2, 5, 4}}}, {"[2, 5, 4]", "[2, 5, 3]"}),
          refuses<ShapeError>({q, {{2, 7, 3}}, v, weights, dy}, {"4 and 3 features"}),
          refuses<ShapeError>({q, k, {{2, 6, 3}}, weights, dy}, {"7 and 6 rows"})};
}

/// With operands of at most x = 2 and weights of at most 2/S, an element of dy·vᵀ is at most D·x², |ds| at
/// most scale · 2/S · 3·D·x², and each of its D, then S roundings, and a few more, is one of that. Sums of S
/// and L such terms, times x, have as many roundings again.
ErrorModel error(Specs inputs, const Attributes& attributes) {
  const Shape &q = inputs[kQ].shape, &v = inputs[kV].shape;
  const double L = double(q[-2]), S = double(std::max<int64_t>(v[-2], 1)), D = double(v[-1]);
  const double of_scores = 24 * attention_scale(attributes.as<AttentionOptions>(), q) * D;
  return {ErrorModel::largest_input,
          of_scores * (D + 2 * S + 8),
          {of_scores * L / S * (D + S + L + 8), 2 * L / S * (L + 1)}};
}

/// Four products and their sums for each weight, and what softmax's gradient takes.
double operations(const Call& call) {
  const double features = double(call.input(kQ).shape[-1] + call.input(kV).shape[-1]);
  return (4 * features + 5) * elements(call.input(kWeights));
}

std::vector<BenchCase> bench_cases(DeviceKind device) {
  if (device == DeviceKind::simt) return {};
  auto heads = [](const char* label, const Shape& shape) {
    const Shape weights = weights_shape(shape, shape);
    return BenchCase{label, {shape, shape, shape, weights, shape}, Attributes::of(AttentionOptions{})};
  };
  return {heads("32×4 heads of 50×16", {32, 4, 50, 16}), heads("8×12 heads of 197×64", {8, 12, 197, 64}),
          heads("4×12 heads of 1024×64", {4, 12, 1024, 64})};
}

}  // namespace

namespace ops {

void register_attention_gradient(Registry& registry) {
  registry.add({.name = kName,
                .summary = "dq, dk, dv of attention from q, k, v, weights and dy",
                .options = &schema_of<AttentionOptions>(),
                .autocast = AutocastPolicy::low,
                .infer = infer,
                .reference = reference,
                .rows = rows,
                .gradient = gradient,
                .saves = {{Saved::input, kQ},
                          {Saved::input, kK},
                          {Saved::input, kV},
                          {Saved::input, kWeights},
                          {Saved::input, kDy}},
                .compose = compose,
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .operations = operations,
                .bench_cases = bench_cases});
}

}  // namespace ops

AttentionGradients attention_gradient(const Tensor& q, const Tensor& k, const Tensor& v,
                                      const Tensor& weights, const Tensor& dy,
                                      const AttentionOptions& options) {
  static const Op& op = op_named(kName);
  const auto outputs = apply(op, {q, k, v, weights, dy}, Attributes::of(options));
  return {outputs[0], outputs[1], outputs[2]};
}

}  // namespace treadle
