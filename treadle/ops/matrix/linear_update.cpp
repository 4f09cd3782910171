#include "treadle/ops/matrix/linear_update.h"

#include <algorithm>

#include "treadle/graph/cost.h"
#include "treadle/ops/matrix/linear_update_fusion.h"
#include "treadle/ops/update/rule_op.h"

namespace treadle {
namespace {

/// Whether the operands are a layer's; `tensors` belong to each parameter.
void require_layer(const std::string& op, Specs inputs, size_t tensors) {
  require<ValueError>(inputs.size() == 3 + tensors || inputs.size() == 3 + 2 * tensors,
                      "{}: operands are x, dy, the numbers of the step, and {} for w and maybe for b", op,
                      tensors);
  require_numbers_of_step(op, inputs[2]);
  std::vector<TensorSpec> floating{inputs[0], inputs[1]};
  floating.insert(floating.end(), inputs.begin() + 3, inputs.end());
  require_same_dtype(op.c_str(), floating);
  const Shape &x = inputs[0].shape, &dy = inputs[1].shape, &w = inputs[3].shape;
  require<ShapeError>(x.rank() == 2 && dy.rank() == 2 && x[0] == dy[0] && w == Shape{dy[1], x[1]},
                      "{}: x {}, dy {} and w {} are not [N, in], [N, out] and [out, in]", op, x, dy, w);
  for (size_t k = 0; k < tensors; ++k)
    require<ShapeError>(inputs[3 + k].shape == w, "{}: w has shape {}, what is kept of it {}", op, w,
                        inputs[3 + k].shape);
  for (size_t k = 3 + tensors; k < inputs.size(); ++k)
    require<ShapeError>(inputs[k].shape == Shape{w[0]},
                        "{}: b or what is kept of it has shape {}, w {} expects [{}]", op, inputs[k].shape, w,
                        w[0]);
}

std::vector<TensorSpec> infer(const RuleOp& rule, Specs inputs, const Attributes& options) {
  const std::string name = name_of_linear_update(rule.name);
  require_layer(name, inputs, rule.operands() - 1);
  rule.require_fit(name, options);
  return {inputs.begin() + 3, inputs.end()};
}

std::vector<ReferenceTensor> reference(const RuleOp& rule, ReferenceInputs inputs,
                                       const Attributes& options) {
  const size_t tensors = rule.operands() - 1;
  const ReferenceTensor &x = inputs[0], &dy = inputs[1];
  const StepNumbers numbers{inputs[2].values[0], inputs[2].values[1]};
  const int64_t N = x.shape[0], in = x.shape[1], out = dy.shape[1];
  std::vector<ReferenceTensor> updated(inputs.begin() + 3, inputs.end());
  std::vector<double> value(rule.operands());
  auto update = [&](size_t first, int64_t element, double gradient) {
    value[0] = updated[first].values[size_t(element)], value[1] = gradient;
    for (size_t k = 1; k < tensors; ++k) value[k + 1] = updated[first + k].values[size_t(element)];
    rule.reference(options, numbers, value.data());
    updated[first].values[size_t(element)] = value[0];
    for (size_t k = 1; k < tensors; ++k) updated[first + k].values[size_t(element)] = value[k + 1];
  };
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t i = 0; i < in; ++i) {
      double gradient = 0;
      for (int64_t n = 0; n < N; ++n) gradient += dy.values[n * out + o] * x.values[n * in + i];
      update(0, o * in + i, gradient);
    }
    double gradient = 0;
    for (int64_t n = 0; n < N; ++n) gradient += dy.values[n * out + o];
    if (updated.size() > tensors) update(tensors, o, gradient);
  }
  return updated;
}

/// What tests call: a layer, how its operands lie, and what x holds.
struct LayerCase {
  const char* label;
  int64_t N, in, out;
  bool bias = true;
  TestLayout layout = TestLayout::contiguous, of_w = TestLayout::contiguous;
  int64_t largest = -1;  ///< x holds integers of at most this size; -1: any numbers
};

std::vector<LayerCase> layer_cases() {
  constexpr auto kPlain = TestLayout::contiguous, kTransposed = TestLayout::transposed,
                 kSliced = TestLayout::sliced;
  return {{"one", 1, 1, 1},
          {"zeros", 5, 7, 3, true, kPlain, kTransposed, 1},
          {"zeros, one row", 1, 1100, 37, true, kPlain, kTransposed, 1},
          {"zeros, tiles", 33, 70, 65, true, kPlain, kTransposed, 1},
          {"zeros, several threads", 67, 301, 21, true, kPlain, kTransposed, 1},
          {"nothing but zeros", 5, 70, 9, true, kPlain, kTransposed, 0},
          {"nothing but zeros, one row", 1, 70, 9, true, kPlain, kTransposed, 0},
          {"odd", 5, 7, 3},
          {"no bias", 5, 7, 3, false},
          {"one row", 1, 70, 9},
          {"two rows", 2, 29, 5},
          {"one input", 33, 1, 6},
          {"one output", 33, 70, 1},
          {"tiles", 40, 65, 33},
          {"several threads", 37, 300, 20},
          {"tall", 300, 19, 20},
          {"deep", 600, 5, 3},
          {"transposed", 9, 33, 34, true, kTransposed, kTransposed},
          {"sliced", 7, 6, 5, true, kSliced, kSliced},
          {"no inputs", 3, 0, 2},
          {"no outputs", 3, 4, 0},
          {"empty batch", 0, 4, 3},
          {"by input", 5, 7, 3, true, kPlain, kTransposed},
          {"by input, no bias", 5, 7, 3, false, kPlain, kTransposed},
          {"by input, one row", 1, 9, 70, true, kPlain, kTransposed},
          {"by input, two rows", 2, 5, 29, true, kPlain, kTransposed},
          {"by input, one input", 33, 1, 6, true, kPlain, kTransposed},
          {"by input, one output", 33, 70, 1, true, kPlain, kTransposed},
          {"by input, tiles", 40, 33, 65, true, kPlain, kTransposed},
          {"by input, several threads", 37, 301, 21, true, kPlain, kTransposed},
          {"by input, deep", 600, 3, 5, true, kPlain, kTransposed},
          {"by input, deep, blocks", 520, 2, 260, true, kPlain, kTransposed},
          {"by input, sliced", 7, 6, 5, true, kSliced, kTransposed},
          {"by input, empty batch", 0, 4, 3, true, kPlain, kTransposed}};
}

/// Gradients of any batch are of the size of one image's.
TestFill fill_of_gradient(int64_t N) {
  return {TestFill::apart, -2 / double(std::max<int64_t>(N, 1)), 2 / double(std::max<int64_t>(N, 1))};
}

constexpr TestFill kSecondStep{TestFill::constant, 2};  ///< learning rate 2 at step 2

void add_parameter(const RuleOp& rule, TestCase& c, const Shape& shape, TestLayout layout) {
  c.inputs.push_back({shape, {}, layout});
  for (size_t k = 0; k < rule.slots.size(); ++k) c.inputs.push_back({shape, rule.fill_of_slot(k), layout});
}

TestCase test_case(const RuleOp& rule, const LayerCase& layer, const std::string& label,
                   const Attributes& options) {
  TestCase c{fmt::format("{}, {}", layer.label, label), {}, options};
  TestFill fill;
  if (layer.largest >= 0) fill = {TestFill::integers, -double(layer.largest), double(layer.largest)};
  c.inputs.push_back({{layer.N, layer.in}, fill, layer.layout});
  c.inputs.push_back({{layer.N, layer.out}, fill_of_gradient(layer.N), layer.layout});
  c.inputs.push_back(numbers_of_step(kSecondStep));
  add_parameter(rule, c, {layer.out, layer.in}, layer.of_w);
  const bool sliced = layer.layout == TestLayout::sliced;
  if (layer.bias) add_parameter(rule, c, {layer.out}, sliced ? layer.layout : TestLayout::contiguous);
  return c;
}

/// Each layer with one of the examples in turn, so that a new rule costs little.
std::vector<TestCase> cases(const RuleOp& rule) {
  std::vector<TestCase> list;
  for (const LayerCase& layer : layer_cases()) {
    const auto& [label, options] = rule.examples[list.size() % rule.examples.size()];
    list.push_back(test_case(rule, layer, label, options));
  }
  return list;
}

/// Gradients are at most 4 and N + 1 roundings off, and count several times in a step of that size.
ErrorModel error(Specs inputs, const Attributes&) {
  return {ErrorModel::largest_input, 12 * (double(inputs[0].shape[0]) + 3)};
}

OpHandle handle_of(const std::string& name) {
  return [name]() -> const Op& { return op_named(name); };
}

void declare(Registry& registry, const RuleOp& rule) {
  const std::string name = name_of_linear_update(rule.name);
  const int tensors = int(rule.operands()) - 1;
  std::vector<int> mutated;
  for (int k = 0; k < tensors; ++k) mutated.push_back(k);
  registry.add({.name = name,
                .summary = "g = dyᵀ·x and Σ_n dy, " + rule.summary,
                .options = rule.options,
                .infer = std::bind_front(infer, rule),
                .reference = std::bind_front(reference, rule),
                .mutates = mutated,
                .group_begin = 3,
                .group_size = tensors,
                .cases = [rule] { return cases(rule); },
                .error = error,
                .operations = for_each_pair_of_columns()});
  registry.add_fusion(
      linear_update_fusion(handle_of(name_of_all(rule.name)), handle_of(name), rule.without_numbers));
}

}  // namespace

namespace ops {

void register_linear_update(Registry& registry) {
  for (const RuleOp& rule : rule_ops()) declare(registry, rule);
}

}  // namespace ops

}  // namespace treadle
