#include "treadle/ops/norm/layer_norm_gradient.h"

#include <cmath>

#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/declaration/convert.h"
#include "treadle/ops/norm/normalized_rows.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/reduce/reduce_options.h"

namespace treadle {
namespace {

enum Operand { kDy, kX, kW };
const char* const kName = "layer_norm_gradient";

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  require_same_dtype(kName, inputs);
  require_epsilon(kName, attributes.as<LayerNormOptions>().epsilon);
  const Shape &dy = inputs[kDy].shape, &x = inputs[kX].shape, &w = inputs[kW].shape;
  require<ShapeError>(x.rank() > 0, "{}: x has no axis", kName);
  require<ShapeError>(dy == x, "{}: dy has shape {}, x {}", kName, dy, x);
  require<ShapeError>(w == Shape{x[-1]}, "{}: w has shape {}, x {} expects [{}]", kName, w, x, x[-1]);
  const DType dtype = inputs[kX].dtype;
  return {TensorSpec::of(x, dtype), TensorSpec::of(w, dtype), TensorSpec::of(w, dtype)};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  const ReferenceTensor &dy = inputs[kDy], &x = inputs[kX], &w = inputs[kW];
  const double epsilon = attributes.as<LayerNormOptions>().epsilon;
  const size_t C = size_t(x.shape[-1]);
  ReferenceTensor dx = x, dw = ReferenceTensor::zeros(w.shape), db = dw;
  for (size_t first = 0; first < x.values.size(); first += C) {
    double mean = 0, variance = 0, sum = 0, dot = 0;
    for (size_t c = 0; c < C; ++c) mean += x.values[first + c] / double(C);
    for (size_t c = 0; c < C; ++c) variance += std::pow(x.values[first + c] - mean, 2) / double(C);
    const double deviation = std::sqrt(variance + epsilon);
    auto n = [&](size_t c) { return (x.values[first + c] - mean) / deviation; };
    auto dn = [&](size_t c) { return dy.values[first + c] * w.values[c]; };
    for (size_t c = 0; c < C; ++c) {
      sum += dn(c), dot += dn(c) * n(c);
      dw.values[c] += dy.values[first + c] * n(c);
      db.values[c] += dy.values[first + c];
    }
    for (size_t c = 0; c < C; ++c)
      dx.values[first + c] = (dn(c) - sum / double(C) - n(c) * dot / double(C)) / deviation;
  }
  return {dx, dw, db};
}

std::vector<int> rows(Specs inputs, const Attributes&) {
  return inputs[kX].shape.rank() > 1 ? std::vector<int>{kDy, kX} : std::vector<int>{};
}

/// Half types are computed in f32 and rounded once.
std::vector<Tensor> formula(const std::vector<Tensor>& operands, const LayerNormOptions& options) {
  const DType dtype = operands[kX].dtype();
  auto wide = [&](Operand i) { return cast(operands[i], wide_dtype(dtype)); };
  const NormalizedRows rows(wide(kX), options.epsilon);
  const Tensor dy = wide(kDy), w = wide(kW);
  return {cast(rows.gradient(dy * w), dtype), cast(sum_to(dy * rows.n(), w.shape()), dtype),
          cast(sum_to(dy, w.shape()), dtype)};
}

std::vector<Tensor> gradient(const GradientContext& context) {
  return gradient_through(context, {context.input(kDy), context.input(kX), context.input(kW)},
                          [&](const std::vector<Tensor>& operands) {
                            return formula(operands, context.options<LayerNormOptions>());
                          });
}

/// Operands and results row-major and of one dtype, f32 or f64. `of_rows` has a place for each row.
struct Steps {
  const Composition& call;
  const TensorView &dy, &x, &w;
  TensorView dx, dw, db;

  void mean_of_rows(const TensorView& values, const TensorView& of_rows) const {
    static const Attributes over_rows = Attributes::of(ReduceOptions{.axes = {-1}, .keep_axes = true});
    call.run(mean_op(), {values}, {of_rows}, over_rows);
  }
  void sum_rows(const TensorView& values, const TensorView& sums) const {
    static const Attributes over_all = Attributes::of(ReduceOptions{.axes = {0}});
    const int64_t C = values.shape[-1], rows = C ? values.numel() / C : 0;
    call.run(sum_op(), {reshaped(values, {rows, C})}, {sums}, over_all);
  }

  void run(double epsilon) const {
    Shape rows = x.shape;
    rows[-1] = 1;
    const TensorView deviation = call.scratch(rows, x.dtype), of_rows = call.scratch(rows, x.dtype),
                     n = call.scratch(x.shape, x.dtype), product = call.scratch(x.shape, x.dtype);
    mean_of_rows(x, of_rows);
    call.run(sub_op(), {x, of_rows}, {n});
    call.run(mul_op(), {n, n}, {product});
    mean_of_rows(product, deviation);
    call.run(add_op(), {deviation, number(call, epsilon, x.dtype)}, {deviation});
    call.run(sqrt_op(), {deviation}, {deviation});
    call.run(div_op(), {n, deviation}, {n});
    call.run(mul_op(), {dy, n}, {product});
    sum_rows(product, dw);
    sum_rows(dy, db);
    call.run(mul_op(), {dy, w}, {dx});
    call.run(mul_op(), {dx, n}, {product});
    mean_of_rows(product, of_rows);
    call.run(mul_op(), {n, of_rows}, {n});
    mean_of_rows(dx, of_rows);
    call.run(sub_op(), {dx, of_rows}, {dx});
    call.run(sub_op(), {dx, n}, {dx});
    call.run(div_op(), {dx, deviation}, {dx});
  }
};

void compose(const Composition& call) {
  const DType dtype = wide_dtype(call.input(kX).dtype);
  auto exact = [&](int input) { return row_major(call, call.input(input), dtype); };
  auto target = [&](int output) { return exact_target(call, call.output(output), dtype); };
  const TensorView dy = exact(kDy), x = exact(kX), w = exact(kW);
  const Steps steps{call, dy, x, w, target(0), target(1), target(2)};
  steps.run(call.options<LayerNormOptions>().epsilon);
  deliver(call, steps.dx, call.output(0));
  deliver(call, steps.dw, call.output(1));
  deliver(call, steps.db, call.output(2));
}

/// σ ≥ ½ whatever x is: its rows are constant where they have one element or are expanded from one.
std::vector<TestCase> cases() {
  auto three = [](const char* label, Shape x, TestLayout layout = TestLayout::contiguous,
                  double epsilon = 0.25) {
    TestCase one{
        label, {{x, {}, layout}, {x, {}, layout}, {{x[-1]}}}, Attributes::of(LayerNormOptions{epsilon})};
    for (TestInput& input : one.inputs)
      input.differentiable = std::isfinite(epsilon) && x.numel() > 0;  // else dx = dw = 0
    return one;
  };
  using enum TestLayout;
  return {three("rows", {5, 10}),
          three("large epsilon", {4, 7}, contiguous, 2),
          three("longer rows", {3, 129}),
          three("long rows", {2, 1283}),
          three("blocks of rows", {130, 9}),
          three("several threads", {301, 67}),
          three("infinite epsilon", {4, 7}, contiguous, INFINITY),
          three("one row", {13}),
          three("three axes", {3, 4, 11}),
          three("transposed", {4, 6, 9}, transposed),
          three("sliced", {6, 11}, sliced),
          three("no rows", {0, 7}),
          three("no elements", {3, 0})};
}

std::vector<RefusedCall> refused_calls() {
  const TestInput x{{2, 3}}, w{{3}}, two{{2}}, scalar{{}};
  auto with = [](double epsilon) { return Attributes::of(LayerNormOptions{epsilon}); };
  return {refuses<ValueError>({x, x, w}, {"epsilon", "-1"}, with(-1)),
          refuses<ValueError>({x, x, w}, {"epsilon", "nan"}, with(NAN)),
          refuses<ShapeError>({x, x, two}, {"[2]", "[2, 3]"}),
          refuses<ShapeError>({w, x, w}, {"dy has shape [3]", "[2, 3]"}),
          refuses<ShapeError>({scalar, scalar, w}, {"no axis"}),
          refuses<DTypeError>({x, x, {.shape = {3}, .dtype = {DType::f64}}}, {kName, "f32", "f64"})};
}

/// With operands of up to 2 and σ ≥ ½, |n| ≤ 4 and |dn| ≤ 4. What is added up to an element of dx stays below
/// 2·(4 + 4 + 4·16), to one of dw below 8 and of db below 2 for each row: so many times an operand's largest,
/// for as many roundings as a row has in its sums, and a column.
ErrorModel error(Specs inputs, const Attributes&) {
  const Shape& x = inputs[kX].shape;
  const double C = x.rank() ? double(x[-1]) : 0, rows = C > 0 ? double(x.numel()) / C : 0,
               along_row = 2 * C + 16;
  return {ErrorModel::largest_input, 72 * along_row, {4 * rows * (along_row + rows), rows * rows + 2}};
}

std::vector<BenchCase> bench_cases(DeviceKind device) {
  if (device == DeviceKind::simt) return {};
  const Shape x{4096, 768};
  return {{"4096×768", {x, x, {768}}, Attributes::of(LayerNormOptions{})}};
}

}  // namespace

namespace ops {

void register_layer_norm_gradient(Registry& registry) {
  registry.add({.name = kName,
                .summary = "dx, dw, db of layer_norm from dy, x and w",
                .options = &schema_of<LayerNormOptions>(),
                .dtype_operand = kX,
                .infer = infer,
                .reference = reference,
                .rows = rows,
                .sums = {1, 2},
                .gradient = gradient,
                .saves = {{Saved::input, kDy}, {Saved::input, kX}, {Saved::input, kW}},
                .compose = compose,
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .operations = for_each_of_input(kX, 16),
                .bench_cases = bench_cases});
}

}  // namespace ops

LayerNormGradients layer_norm_gradient(const Tensor& dy, const Tensor& x, const Tensor& w,
                                       const LayerNormOptions& options) {
  static const Op& op = op_named(kName);
  auto outputs = apply(op, {dy, x, w}, Attributes::of(options));
  return {outputs[0], outputs[1], outputs[2]};
}

}  // namespace treadle
