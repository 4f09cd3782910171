#include "treadle/ops/matrix/linear_input_gradient.h"

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/relu_gradient.h"

namespace treadle {
namespace {

constexpr const char* kName = "linear_input_gradient";

std::vector<TensorSpec> infer(Specs inputs, const Attributes&) {
  require_same_dtype(kName, inputs);
  const Shape &dy = inputs[0].shape, &w = inputs[1].shape, &x = inputs[2].shape;
  require<ShapeError>(dy.rank() == 2 && x.rank() == 2 && dy[0] == x[0] && w == Shape{dy[1], x[1]},
                      "{}: dy {}, w {} and x {} are not [N, out], [out, in] and [N, in]", kName, dy, w, x);
  return {TensorSpec::of(x, inputs[0].dtype)};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes&) {
  const ReferenceTensor &dy = inputs[0], &w = inputs[1], &x = inputs[2];
  const int64_t N = x.shape[0], in = x.shape[1], out = w.shape[0];
  ReferenceTensor dx = ReferenceTensor::zeros({N, in});
  for (int64_t n = 0; n < N; ++n)
    for (int64_t i = 0; i < in; ++i) {
      if (x.values[n * in + i] <= 0) continue;
      for (int64_t o = 0; o < out; ++o)
        dx.values[n * in + i] += dy.values[n * out + o] * w.values[o * in + i];
    }
  return {dx};
}

constexpr auto kPlain = TestLayout::contiguous, kTransposed = TestLayout::transposed,
               kSliced = TestLayout::sliced, kExpanded = TestLayout::expanded;
constexpr TestFill kMixed{TestFill::integers, -1, 1}, kMostlyClosed{TestFill::integers, -3, 1},
    kZero{TestFill::constant, 0}, kOpen{TestFill::uniform, 0.5, 2};
/// Sums of their products are exact in every dtype, which the error model asks for where x is not finite.
constexpr TestFill kSmallIntegers{TestFill::integers, -2, 2};

TestCase masked(const char* label, Shape x, int64_t out, TestFill x_fill = kMixed,
                TestLayout w_layout = kPlain, TestLayout dy_layout = kPlain, TestLayout x_layout = kPlain) {
  return {label, {{{x[0], out}, {}, dy_layout}, {{out, x[1]}, {}, w_layout}, {x, x_fill, x_layout}}, {}};
}

TestCase filled(const char* label, TestFill dy, TestFill w, TestFill x, TestLayout w_layout) {
  return {label, {{{9, 13}, dy}, {{13, 37}, w, w_layout}, {{9, 37}, x}}, {}};
}

std::vector<TestCase> cases() {
  constexpr TestFill nan{TestFill::with_nan}, infinity{TestFill::with_infinity};
  return {masked("one", {1, 1}, 1, {}),
          masked("odd", {5, 7}, 3),
          masked("most closed", {9, 41}, 13, kMostlyClosed, kTransposed),
          masked("all closed", {5, 19}, 6, kZero, kTransposed),
          masked("all open", {6, 35}, 11, kOpen, kTransposed),
          masked("all open, row-major", {6, 35}, 11, kOpen),
          masked("one row", {1, 70}, 9, kMixed, kTransposed),
          masked("one input", {33, 1}, 6),
          masked("one output", {33, 70}, 1),
          masked("tiles", {40, 65}, 33),
          masked("tiles, transposed", {40, 65}, 33, kMixed, kTransposed),
          masked("several threads", {37, 300}, 20, kMixed, kTransposed),
          masked("wide", {3, 17}, 261, kMixed, kTransposed),
          masked("all transposed", {9, 33}, 34, kMixed, kTransposed, kTransposed, kTransposed),
          masked("sliced", {7, 6}, 5, kMixed, kSliced, kSliced, kSliced),
          masked("expanded", {7, 6}, 5, kMixed, kExpanded, kExpanded, kExpanded),
          filled("x with NaN", kSmallIntegers, kSmallIntegers, nan, kTransposed),
          filled("x with infinities", kSmallIntegers, kSmallIntegers, infinity, kPlain),
          filled("w with infinities", {}, infinity, kMixed, kTransposed),
          filled("w with NaN", {}, nan, kMixed, kPlain),
          filled("dy with infinities", infinity, {}, kMixed, kTransposed),
          masked("no inputs", {3, 0}, 2),
          masked("no outputs", {3, 4}, 0),
          masked("empty batch", {0, 4}, 3)};
}

ErrorModel error(Specs inputs, const Attributes&) {
  return {ErrorModel::absolute_inputs, double(inputs[1].shape[0])};
}

/// All products, then ReLU's gradient in place: where few places are closed.
void compose(const Composition& call) {
  const TensorView &dy = call.input(0), &w = call.input(1), &x = call.input(2), &dx = call.output();
  call.run(matmul_op(), {dy, w}, {dx});
  call.run(relu_gradient_op(), {x, dx}, {dx});
}

}  // namespace

namespace ops {

void register_linear_input_gradient(Registry& registry) {
  registry.add({.name = kName,
                .summary = "dx[n,i] = Σ_o dy[n,o] · w[o,i] where x[n,i] > 0, else 0",
                .autocast = AutocastPolicy::low,
                .infer = infer,
                .reference = reference,
                .rows = rows_of_operands({0, 2}),
                .compose = compose,
                .cases = cases,
                .error = error,
                .operations = for_each_product()});
}

}  // namespace ops

Tensor linear_input_gradient(const Tensor& dy, const Tensor& w, const Tensor& x) {
  static const Op& op = op_named(kName);
  return apply(op, {dy, w, x})[0];
}

}  // namespace treadle
