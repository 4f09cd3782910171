#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/reduce/reduce_options.h"

namespace treadle {
namespace {

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  require_same_dtype("linear_weight_gradient", inputs);
  const Shape &x = inputs[0].shape, &dy = inputs[1].shape;
  require<ShapeError>(x.rank() == 2 && dy.rank() == 2 && x[0] == dy[0],
                      "linear_weight_gradient: x {} and dy {} are not [N, in] and [N, out]", x, dy);
  const auto& options = attributes.as<LinearWeightGradientOptions>();
  std::vector<TensorSpec> specs{TensorSpec::of({dy[1], x[1]}, inputs[0].dtype)};
  if (options.transposed) specs[0].strides = {1, dy[1]};
  if (options.bias) specs.push_back(TensorSpec::of({dy[1]}, inputs[0].dtype));
  return specs;
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  const ReferenceTensor &x = inputs[0], &dy = inputs[1];
  const int64_t N = x.shape[0], in = x.shape[1], out = dy.shape[1];
  ReferenceTensor dw = ReferenceTensor::zeros({out, in}), db = ReferenceTensor::zeros({out});
  for (int64_t n = 0; n < N; ++n)
    for (int64_t o = 0; o < out; ++o) {
      for (int64_t i = 0; i < in; ++i) dw.values[o * in + i] += dy.values[n * out + o] * x.values[n * in + i];
      db.values[o] += dy.values[n * out + o];
    }
  if (!attributes.as<LinearWeightGradientOptions>().bias) return {dw};
  return {dw, db};
}

/// With U and u for dw and db: those of x are dy·U, those of dy are x·Uᵀ + u.
std::vector<Tensor> gradient(const GradientContext& context) {
  const bool has_bias = context.options<LinearWeightGradientOptions>().bias;
  const Tensor U = context.upstream(0), u = has_bias ? context.upstream(1) : Tensor();
  std::vector<Tensor> result(2);
  if (context.needs(0) && U.defined()) result[0] = matmul(context.input(1), U);
  if (context.needs(1) && U.defined()) result[1] = linear(context.input(0), U, u);
  if (context.needs(1) && !U.defined()) result[1] = expand(u, context.input_spec(1).shape);
  return result;
}

constexpr auto kPlain = TestLayout::contiguous, kTransposed = TestLayout::transposed,
               kSliced = TestLayout::sliced, kExpanded = TestLayout::expanded;

std::vector<TestCase> cases() {
  auto two = [](const char* label, Shape x, int64_t out, bool bias = true, TestLayout x_layout = kPlain,
                TestLayout dy_layout = kPlain, bool by_input = false) {
    return TestCase{label,
                    {{x, {}, x_layout}, {{x[0], out}, {}, dy_layout}},
                    Attributes::of(LinearWeightGradientOptions{bias, by_input})};
  };
  auto by_input = [&](const char* label, Shape x, int64_t out, bool bias = true, TestLayout layout = kPlain) {
    return two(label, x, out, bias, layout, layout, true);
  };
  auto zeros = [&](const char* label, Shape x, int64_t out, int64_t largest = 1) {
    TestCase c = by_input(label, x, out);
    c.inputs[0].fill = {TestFill::integers, -double(largest), double(largest)};
    return c;
  };
  return {two("one", {1, 1}, 1),
          zeros("zeros", {5, 7}, 3),
          zeros("zeros, one row", {1, 1100}, 37),
          zeros("zeros, tiles", {33, 70}, 65),
          zeros("zeros, several threads", {67, 301}, 21),
          zeros("nothing but zeros", {5, 70}, 9, 0),
          zeros("nothing but zeros, one row", {1, 70}, 9, 0),
          two("odd", {5, 7}, 3),
          two("no bias", {5, 7}, 3, false),
          two("one row", {1, 70}, 9),
          two("two rows", {2, 29}, 5),
          two("one input", {33, 1}, 6),
          two("one output", {33, 70}, 1),
          two("tiles", {40, 65}, 33),
          two("several threads", {37, 300}, 20),
          two("tall", {300, 19}, 20),
          two("deep", {1100, 5}, 3),
          two("deep, blocks of rows", {520, 2}, 130),
          two("deep, blocks of columns", {520, 260}, 2),
          two("transposed", {9, 33}, 34, true, kTransposed, kTransposed),
          two("sliced", {7, 6}, 5, true, kSliced, kSliced),
          two("expanded", {7, 6}, 5, true, kExpanded, kExpanded),
          two("no inputs", {3, 0}, 2),
          two("no outputs", {3, 4}, 0),
          two("empty batch", {0, 4}, 3),
          by_input("by input", {5, 7}, 3),
          by_input("by input, one row", {1, 9}, 70),
          by_input("by input, two rows", {2, 5}, 29, false),
          by_input("by input, one input", {33, 1}, 6),
          by_input("by input, one output", {33, 70}, 1),
          by_input("by input, tiles", {40, 33}, 65),
          by_input("by input, several threads", {37, 301}, 21),
          by_input("by input, tall", {300, 19}, 20),
          by_input("by input, deep", {1100, 3}, 5),
          by_input("by input, transposed", {9, 33}, 34, true, kTransposed),
          by_input("by input, sliced", {7, 6}, 5, true, kSliced),
          by_input("by input, expanded", {7, 6}, 5, true, kExpanded),
          by_input("by input, no inputs", {3, 0}, 2),
          by_input("by input, no outputs", {3, 4}, 0),
          by_input("by input, empty batch", {0, 4}, 3)};
}

ErrorModel error(Specs inputs, const Attributes&) {
  return {ErrorModel::absolute_inputs, double(inputs[0].shape[0])};
}

TensorView transposed(TensorView matrix) {
  std::swap(matrix.shape[0], matrix.shape[1]);
  std::swap(matrix.strides[0], matrix.strides[1]);
  return matrix;
}

/// dw by the matrix product, db by the sum: where libraries are faster than anything fused. The product's
/// result lies row by row, being dw or its transpose.
void compose(const Composition& call) {
  static const Attributes over_batch = Attributes::of(ReduceOptions{.axes = {0}});
  const TensorView &x = call.input(0), &dy = call.input(1), &dw = call.output();
  if (call.options<LinearWeightGradientOptions>().transposed)
    call.run(matmul_op(), {transposed(x), dy}, {transposed(dw)});
  else
    call.run(matmul_op(), {transposed(dy), x}, {dw});
  if (call.outputs().size() > 1) call.run(sum_op(), {dy}, {call.output(1)}, over_batch);
}

}  // namespace

namespace ops {

void register_linear_weight_gradient(Registry& registry) {
  registry.add({.name = "linear_weight_gradient",
                .summary = "dw[o,i] = Σ_n dy[n,o] · x[n,i], db[o] = Σ_n dy[n,o]",
                .options = &schema_of<LinearWeightGradientOptions>(),
                .autocast = AutocastPolicy::low,
                .infer = infer,
                .reference = reference,
                .rows = rows_of_operands({0, 1}),
                .sums = {0, 1},
                .gradient = gradient,
                .saves = {{Saved::input, 0}, {Saved::input, 1}},
                .compose = compose,
                .cases = cases,
                .error = error,
                .operations = for_each_pair_of_columns()});
}

}  // namespace ops

LinearWeightGradient linear_weight_gradient(const Tensor& x, const Tensor& dy,
                                            const LinearWeightGradientOptions& options) {
  static const Op& op = op_named("linear_weight_gradient");
  auto outputs = apply(op, {x, dy}, Attributes::of(options));
  return {outputs[0], options.bias ? outputs[1] : Tensor{}};
}

}  // namespace treadle
