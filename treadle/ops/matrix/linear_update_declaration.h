/// How a rule declares its linear update: the op, and the fusion that finds it.
#pragma once

#include <algorithm>
#include <string>

#include "treadle/ops/matrix/linear_update.h"
#include "treadle/ops/update/optimizer_update.h"
#include "treadle/ops/update/rule_declaration.h"

namespace treadle {

/// Fuses linear_weight_gradient and `update_all` to `fused`, whose options are made of the update's.
StepFusion linear_update_fusion(OpHandle update_all, OpHandle fused,
                                Attributes (*options)(const Attributes& of_update));

namespace linear_update_ops {

/// Whether the operands are a layer's; `tensors` belong to each parameter.
inline void require_layer(const std::string& op, Specs inputs, size_t tensors) {
  require<ValueError>(inputs.size() == 3 + tensors || inputs.size() == 3 + 2 * tensors,
                      "{}: operands are x, dy, the numbers of the step, and {} for w and maybe for b", op,
                      tensors);
  update_ops::require_numbers(op, inputs[2]);
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

template <class Rule>
std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  const std::string name = name_of_linear_update<Rule>();
  require_layer(name, inputs, kOperandsOf<Rule> - 1);
  update_ops::require_rule<Rule>(name, attributes.as<typename Rule::Options>());
  return {inputs.begin() + 3, inputs.end()};
}

template <class Rule>
std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  constexpr size_t kTensors = kOperandsOf<Rule> - 1;
  const ReferenceTensor &x = inputs[0], &dy = inputs[1];
  const StepNumbers numbers{inputs[2].values[0], inputs[2].values[1]};
  const int64_t N = x.shape[0], in = x.shape[1], out = dy.shape[1];
  std::vector<ReferenceTensor> updated(inputs.begin() + 3, inputs.end());
  auto update = [&](size_t first, int64_t element, double gradient) {
    double value[kTensors + 1] = {updated[first].values[size_t(element)], gradient};
    for (size_t k = 1; k < kTensors; ++k) value[k + 1] = updated[first + k].values[size_t(element)];
    update_ops::update_reference<Rule>(attributes.as<typename Rule::Options>(), numbers, value);
    updated[first].values[size_t(element)] = value[0];
    for (size_t k = 1; k < kTensors; ++k) updated[first + k].values[size_t(element)] = value[k + 1];
  };
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t i = 0; i < in; ++i) {
      double gradient = 0;
      for (int64_t n = 0; n < N; ++n) gradient += dy.values[n * out + o] * x.values[n * in + i];
      update(0, o * in + i, gradient);
    }
    double gradient = 0;
    for (int64_t n = 0; n < N; ++n) gradient += dy.values[n * out + o];
    if (updated.size() > kTensors) update(kTensors, o, gradient);
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

inline std::vector<LayerCase> layer_cases() {
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
          {"by input, sliced", 7, 6, 5, true, kSliced, kTransposed},
          {"by input, empty batch", 0, 4, 3, true, kPlain, kTransposed}};
}

/// Gradients of any batch are of the size of one image's.
inline TestFill fill_of_gradient(int64_t N) {
  return {TestFill::apart, -2 / double(std::max<int64_t>(N, 1)), 2 / double(std::max<int64_t>(N, 1))};
}

constexpr TestFill kSecondStep{TestFill::constant, 2};  ///< learning rate 2 at step 2

template <class Rule>
void add_parameter(TestCase& c, const Shape& shape, TestLayout layout) {
  c.inputs.push_back({shape, {}, layout});
  for (size_t k = 0; k < Rule::kSlots.size(); ++k)
    c.inputs.push_back({shape, update_ops::fill_of_slot<Rule>(k), layout});
}

template <class Rule>
TestCase test_case(const LayerCase& layer, const char* label, const typename Rule::Options& options) {
  TestCase c{fmt::format("{}, {}", layer.label, label), {}, Attributes::of(options)};
  TestFill fill;
  if (layer.largest >= 0) fill = {TestFill::integers, -double(layer.largest), double(layer.largest)};
  c.inputs.push_back({{layer.N, layer.in}, fill, layer.layout});
  c.inputs.push_back({{layer.N, layer.out}, fill_of_gradient(layer.N), layer.layout});
  c.inputs.push_back(update_ops::numbers_input(kSecondStep));
  add_parameter<Rule>(c, {layer.out, layer.in}, layer.of_w);
  const bool sliced = layer.layout == TestLayout::sliced;
  if (layer.bias) add_parameter<Rule>(c, {layer.out}, sliced ? layer.layout : TestLayout::contiguous);
  return c;
}

template <class Rule>
std::vector<TestCase> cases() {
  std::vector<TestCase> list;
  for (const LayerCase& layer : layer_cases())
    for (auto& [label, options] : update_ops::examples<Rule>())
      list.push_back(test_case<Rule>(layer, label, options));
  return list;
}

/// Gradients are at most 4 and N + 1 roundings off, and count several times in a step of that size.
inline ErrorModel error(Specs inputs, const Attributes&) {
  return {ErrorModel::largest_input, 12 * (double(inputs[0].shape[0]) + 3)};
}

template <class Rule>
Attributes options_of_update(const Attributes& of_update) {
  const typename Rule::Options& options = of_update.as<UpdateOptions<typename Rule::Options>>();
  return Attributes::of(options);
}

}  // namespace linear_update_ops

/// Declares the op of a rule, and the fusion that finds it.
template <class Rule>
void declare_linear_update(Registry& registry) {
  using namespace linear_update_ops;
  std::vector<int> mutated;
  for (int k = 0; k + 1 < kOperandsOf<Rule>; ++k) mutated.push_back(k);
  registry.add({.name = name_of_linear_update<Rule>(),
                .summary = std::string("g = dyᵀ·x and Σ_n dy, ") + Rule::kSummary,
                .options = &schema_of<typename Rule::Options>(),
                .infer = infer<Rule>,
                .reference = linear_update_ops::reference<Rule>,
                .mutates = mutated,
                .group_begin = 3,
                .group_size = kOperandsOf<Rule> - 1,
                .cases = cases<Rule>,
                .error = error,
                .operations = for_each_pair_of_columns()});
  registry.add_fusion(
      linear_update_fusion(update_all_op<Rule>, linear_update_op<Rule>, options_of_update<Rule>));
}

}  // namespace treadle
