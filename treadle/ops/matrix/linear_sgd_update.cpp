#include "treadle/ops/matrix/linear_sgd_update.h"

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"

namespace treadle {
namespace {

constexpr const char* kName = "linear_sgd_update";

void require_state(const TensorSpec& state) {
  require<DTypeError>(state.dtype == DType::f64, "{}: state is {}, not f64", kName, name_of(state.dtype));
  require<ShapeError>(state.shape == Shape{2}, "{}: state has shape {}, expected [2]", kName, state.shape);
}

std::vector<TensorSpec> infer(Specs inputs, const Attributes&) {
  require<ValueError>(inputs.size() == 4 || inputs.size() == 5,
                      "{}: operands are x, dy, state, w and maybe b", kName);
  require_state(inputs[2]);
  std::vector<TensorSpec> matrices{inputs[0], inputs[1]};
  matrices.insert(matrices.end(), inputs.begin() + 3, inputs.end());
  require_same_dtype(kName, matrices);
  const Shape &x = inputs[0].shape, &dy = inputs[1].shape, &w = inputs[3].shape;
  require<ShapeError>(x.rank() == 2 && dy.rank() == 2 && x[0] == dy[0] && w == Shape{dy[1], x[1]},
                      "{}: x {}, dy {} and w {} are not [N, in], [N, out] and [out, in]", kName, x, dy, w);
  if (inputs.size() == 5)
    require<ShapeError>(inputs[4].shape == Shape{w[0]}, "{}: b has shape {}, w {} expects [{}]", kName,
                        inputs[4].shape, w, w[0]);
  return {inputs.begin() + 3, inputs.end()};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  const ReferenceTensor &x = inputs[0], &dy = inputs[1];
  const double rate = inputs[2].values[0], decay = attributes.as<LinearSgdUpdateOptions>().weight_decay;
  const int64_t N = x.shape[0], in = x.shape[1], out = dy.shape[1];
  std::vector<ReferenceTensor> parameters(inputs.begin() + 3, inputs.end());
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t i = 0; i < in; ++i) {
      double gradient = 0, &w = parameters[0].values[o * in + i];
      for (int64_t n = 0; n < N; ++n) gradient += dy.values[n * out + o] * x.values[n * in + i];
      w -= rate * (gradient + decay * w);
    }
    if (parameters.size() < 2) continue;
    double gradient = 0, &b = parameters[1].values[o];
    for (int64_t n = 0; n < N; ++n) gradient += dy.values[n * out + o];
    b -= rate * (gradient + decay * b);
  }
  return parameters;
}

constexpr auto kPlain = TestLayout::contiguous, kTransposed = TestLayout::transposed,
               kSliced = TestLayout::sliced;
constexpr double kTestRate = 0.05;

std::vector<TestCase> cases() {
  auto update = [](const char* label, Shape x, int64_t out, bool bias = true, TestLayout layout = kPlain,
                   double weight_decay = 0.1, bool by_input = false) {
    TestInput state{{2}, {TestFill::constant, kTestRate}, kPlain, {DType::f64}};
    TestCase c{label,
               {{x, {}, layout},
                {{x[0], out}, {}, layout},
                state,
                {{out, x[1]}, {}, by_input ? kTransposed : layout}},
               Attributes::of(LinearSgdUpdateOptions{weight_decay})};
    if (bias) c.inputs.push_back({{out}, {}, layout == kSliced ? kSliced : kPlain});
    return c;
  };
  auto by_input = [&](const char* label, Shape x, int64_t out, bool bias = true, TestLayout layout = kPlain) {
    return update(label, x, out, bias, layout, 0.1, true);
  };
  auto zeros = [&](const char* label, Shape x, int64_t out, double weight_decay = 0.1, int64_t largest = 1) {
    TestCase c = update(label, x, out, true, kPlain, weight_decay, true);
    c.inputs[0].fill = {TestFill::integers, -double(largest), double(largest)};
    return c;
  };
  return {update("one", {1, 1}, 1),
          zeros("zeros", {5, 7}, 3),
          zeros("zeros, no decay", {5, 7}, 3, 0),
          zeros("zeros, one row", {1, 1100}, 37),
          zeros("zeros, one row, no decay", {1, 1100}, 37, 0),
          zeros("zeros, tiles", {33, 70}, 65),
          zeros("zeros, several threads", {67, 301}, 21, 0),
          zeros("nothing but zeros", {5, 70}, 9, 0.1, 0),
          zeros("nothing but zeros, no decay", {5, 70}, 9, 0, 0),
          zeros("nothing but zeros, one row, no decay", {1, 70}, 9, 0, 0),
          update("odd", {5, 7}, 3),
          update("no decay", {5, 7}, 3, true, kPlain, 0),
          update("no bias", {5, 7}, 3, false),
          update("one row", {1, 70}, 9),
          update("two rows", {2, 29}, 5),
          update("one input", {33, 1}, 6),
          update("one output", {33, 70}, 1),
          update("tiles", {40, 65}, 33),
          update("several threads", {37, 300}, 20),
          update("deep", {600, 5}, 3),
          update("transposed", {9, 33}, 34, true, kTransposed),
          update("sliced", {7, 6}, 5, true, kSliced),
          update("no inputs", {3, 0}, 2),
          update("no outputs", {3, 4}, 0),
          update("empty batch", {0, 4}, 3),
          by_input("by input", {5, 7}, 3),
          by_input("by input, no bias", {5, 7}, 3, false),
          by_input("by input, one row", {1, 9}, 70),
          by_input("by input, two rows", {2, 5}, 29),
          by_input("by input, one input", {33, 1}, 6),
          by_input("by input, one output", {33, 70}, 1),
          by_input("by input, tiles", {40, 33}, 65),
          by_input("by input, several threads", {37, 301}, 21),
          by_input("by input, deep", {600, 3}, 5),
          by_input("by input, sliced", {7, 6}, 5, true, kSliced),
          by_input("by input, empty batch", {0, 4}, 3)};
}

/// Operands are at most 2, so that the gradient is at most 4·N with N + 1 roundings of its own size; the rest
/// are a few roundings of the parameter.
ErrorModel error(Specs inputs, const Attributes&) {
  const double N = double(inputs[0].shape[0]);
  return {ErrorModel::largest_input, 8 + kTestRate * 4 * N * (N + 3)};
}

}  // namespace

namespace ops {

void register_linear_sgd_update(Registry& registry) {
  registry.add({.name = kName,
                .summary = "w -= rate·(dyᵀ·x + weight_decay·w), b -= rate·(Σ_n dy + weight_decay·b)",
                .options = &schema_of<LinearSgdUpdateOptions>(),
                .infer = infer,
                .reference = reference,
                .mutates = {0},
                .group_begin = 3,
                .group_size = 1,
                .cases = cases,
                .error = error,
                .operations = for_each_pair_of_columns()});
}

}  // namespace ops

void linear_sgd_update(const Tensor& x, const Tensor& dy, const Tensor& state, const Tensor& w,
                       const Tensor& b, const LinearSgdUpdateOptions& options) {
  static const Op& op = op_named(kName);
  std::vector<Tensor> operands{x, dy, state, w};
  if (b.defined()) operands.push_back(b);
  apply_in_place(op, std::move(operands), Attributes::of(options));
}

}  // namespace treadle
