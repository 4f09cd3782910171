#include "treadle/ops/matrix/linear.h"

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/require_defined.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

std::vector<TensorSpec> infer(Specs inputs, const Attributes&) {
  require_same_dtype("linear", inputs);
  const Shape &x = inputs[0].shape, &w = inputs[1].shape;
  require<ShapeError>(x.rank() == 2 && w.rank() == 2 && x[1] == w[1],
                      "linear: x {} and w {} are not [N, in] and [out, in]", x, w);
  if (inputs.size() > 2 && inputs[2].defined)
    require<ShapeError>(inputs[2].shape == Shape{w[0]}, "linear: b has shape {}, w {} expects [{}]",
                        inputs[2].shape, w, w[0]);
  return {TensorSpec::of({x[0], w[0]}, inputs[0].dtype)};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes&) {
  const ReferenceTensor &x = inputs[0], &w = inputs[1];
  const int64_t N = x.shape[0], in = x.shape[1], out = w.shape[0];
  ReferenceTensor y = ReferenceTensor::zeros({N, out});
  for (int64_t n = 0; n < N; ++n)
    for (int64_t o = 0; o < out; ++o) {
      double sum = inputs.size() > 2 && inputs[2].defined ? inputs[2].values[o] : 0;
      for (int64_t i = 0; i < in; ++i) sum += x.values[n * in + i] * w.values[o * in + i];
      y.values[n * out + o] = sum;
    }
  return {y};
}

/// Whether w [out, in] lies in memory as [in][out].
bool is_transposed(const TensorSpec& w) { return w.strides[0] == 1 && w.strides[1] != 1; }

/// dx = dy·w, dw = dyᵀ·x in the layout of w, db = Σ_n dy.
std::vector<Tensor> gradient(const GradientContext& context) {
  const Tensor dy = context.upstream();
  std::vector<Tensor> result(3);
  if (context.needs(0)) result[0] = matmul(dy, context.input(1));
  if (context.needs(1)) {
    const auto [dw, db] = linear_weight_gradient(
        context.input(0), dy, {.bias = context.needs(2), .transposed = is_transposed(context.input_spec(1))});
    result[1] = dw, result[2] = db;
  } else if (context.needs(2)) {
    result[2] = sum(dy, {0});
  }
  return result;
}

constexpr auto kPlain = TestLayout::contiguous, kTransposed = TestLayout::transposed,
               kSliced = TestLayout::sliced;

std::vector<TestCase> cases() {
  auto three = [](const char* label, Shape x, Shape w, bool bias = true, TestLayout x_layout = kPlain,
                  TestLayout w_layout = kPlain, TestLayout b_layout = kPlain) {
    TestInput b{{w[0]}, {}, b_layout};
    b.defined = bias;
    return TestCase{label, {{x, {}, x_layout}, {w, {}, w_layout}, b}, {}};
  };
  auto zeros = [&](const char* label, Shape x, Shape w) {
    TestCase c = three(label, x, w, true, kPlain, kTransposed);
    c.inputs[0].fill = {TestFill::integers, -1, 1};
    return c;
  };
  return {three("one", {1, 1}, {1, 1}),
          zeros("zeros", {5, 7}, {3, 7}),
          zeros("zeros, one row", {1, 1100}, {37, 1100}),
          zeros("zeros, three rows", {3, 70}, {101, 70}),
          zeros("zeros, tiles", {33, 70}, {65, 70}),
          zeros("zeros, several threads", {67, 37}, {301, 37}),
          three("odd", {5, 7}, {3, 7}),
          three("no bias", {5, 7}, {3, 7}, false),
          three("tiles", {33, 40}, {65, 40}),
          three("several threads", {20, 37}, {300, 37}),
          three("tall", {300, 19}, {20, 19}),
          three("one row", {1, 70}, {9, 70}),
          three("one output", {9, 70}, {1, 70}),
          three("transposed", {33, 9}, {34, 9}, true, kTransposed, kTransposed),
          three("by input", {5, 7}, {3, 7}, true, kPlain, kTransposed),
          three("by input, no bias", {5, 7}, {3, 7}, false, kPlain, kTransposed),
          three("by input, tiles", {33, 40}, {65, 40}, true, kPlain, kTransposed),
          three("by input, several threads", {20, 37}, {301, 37}, true, kPlain, kTransposed),
          three("by input, tall", {301, 19}, {21, 19}, true, kPlain, kTransposed),
          three("by input, deep", {6, 1100}, {50, 1100}, true, kPlain, kTransposed),
          three("by input, wide rows", {36, 24}, {72, 24}, true, kPlain, kTransposed),
          three("by input, wide tiles", {130, 40}, {136, 40}, true, kPlain, kTransposed),
          three("by input, few rows", {2, 530}, {97, 530}, true, kPlain, kTransposed),
          three("by input, one row", {1, 70}, {9, 70}, true, kPlain, kTransposed),
          three("by input, two rows", {2, 70}, {90, 70}, false, kPlain, kTransposed),
          three("by input, one input", {9, 1}, {70, 1}, true, kPlain, kTransposed),
          three("by input, sliced", {7, 6}, {5, 6}, true, kSliced, kTransposed, kSliced),
          three("by input, no inputs", {2, 0}, {3, 0}, true, kPlain, kTransposed),
          three("sliced", {7, 6}, {5, 6}, true, kSliced, kSliced, kSliced),
          three("expanded", {7, 6}, {5, 6}, true, kPlain, kPlain, TestLayout::expanded),
          three("no inputs", {2, 0}, {3, 0}),
          three("empty batch", {0, 4}, {3, 4})};
}

std::vector<RefusedCall> refused_calls() {
  const TestInput x{{2, 3}}, w{{2, 3}};
  return {refuses<ShapeError>({x, {{2, 4}}}, {"[2, 3]", "[2, 4]"}),
          refuses<ShapeError>({x, w, {{3}}}, {"[3]", "[2, 3]"}),
          refuses<DTypeError>({x, {.shape = w.shape, .dtype = {DType::f64}}}, {"linear", "f32", "f64"}),
          refuses<DTypeError>({x, w, {.shape = {2}, .dtype = {DType::f64}}}, {"linear", "f32", "f64"})};
}

ErrorModel error(Specs inputs, const Attributes&) {
  return {ErrorModel::absolute_inputs, double(inputs[0].shape[1]) + 1};
}

std::vector<BenchCase> bench_cases(DeviceKind device) {
  if (device == DeviceKind::simt) return {};
  return {{"32×3200→256", {{32, 3200}, {256, 3200}, {256}}}};
}

}  // namespace

namespace ops {

void register_linear(Registry& registry) {
  registry.add({.name = "linear",
                .summary = "y[n,o] = Σ_i x[n,i] · w[o,i] + b[o]",
                .autocast = AutocastPolicy::low,
                .optional = {2},
                .infer = infer,
                .reference = reference,
                .rows = rows_of_first,
                .gradient = gradient,
                .saves = {{Saved::input, 0}, {Saved::input, 1}},
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .operations = for_each_product(),
                .bench_cases = bench_cases});
}

}  // namespace ops

namespace {

/// x as a matrix: all axes but the last become rows.
Tensor as_rows(const Tensor& x) {
  int64_t rows = 1;
  for (int axis = 0; axis + 1 < x.rank(); ++axis) rows *= x.size(axis);
  return reshape(x, {rows, x.size(-1)});
}

}  // namespace

const Op& linear_op() {
  static const Op& op = op_named("linear");
  return op;
}

Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b) {
  const Op& op = linear_op();
  require_defined("linear", x, 1);
  require_defined("linear", w, 2);
  if (x.rank() == 2) return apply(op, {x, w, b})[0];
  require<ShapeError>(x.rank() > 0, "linear: x {} and w {} are not [..., in] and [out, in]", x.shape(),
                      w.shape());
  Shape shape = x.shape();
  Tensor y = apply(op, {as_rows(x), w, b})[0];
  shape[-1] = y.size(-1);
  return reshape(y, shape);
}

}  // namespace treadle
