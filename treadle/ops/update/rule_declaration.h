/// What a rule says of itself beside its step, and the update ops that follow from it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/update/rule.h"

namespace treadle {

/// What a rule keeps of one element, by name.
class KeptElement {
 public:
  KeptElement(std::span<const char* const> names, double* values) : names_(names), values_(values) {}
  double& operator[](std::string_view name) {
    for (size_t i = 0; i < names_.size(); ++i)
      if (name == names_[i]) return values_[i];
    throw Error(fmt::format("a reference asks for '{}', which its rule does not keep", name));
  }

 private:
  std::span<const char* const> names_;
  double* values_;
};

template <class Options>
struct LabelledOptions {
  const char* label;
  Options options = {};
};

/// Of all rules with these options.
template <class Options>
struct RuleDeclaration {
  /// Of the optimizer's class, for messages.
  const char* name;
  /// Throws ValueError for options that make no rule.
  void (*check)(const Options&);
  /// The names by which users ask for it: "adam", "adamw".
  std::vector<LabelledOptions<Options>> presets;
  /// Options away from their defaults, for tests; each rule serves some.
  std::vector<LabelledOptions<Options>> examples;
  /// The update of one element in double, for tests: written from the paper's equations, not from the step.
  void (*reference)(const Options&, StepNumbers, double& p, double g, KeptElement& kept);
  /// How tests fill what cannot be any number.
  std::map<std::string, TestFill> fills = {};
};

namespace update_ops {

/// The declaration of all rules with these options, from their registration on.
template <class Options>
inline RuleDeclaration<Options> declared{};

template <class Rule>
const auto& declaration_of() {
  return declared<typename Rule::Options>;
}

template <class Rule>
const UpdateOptions<typename Rule::Options>& options_of(const Attributes& attributes) {
  return attributes.as<UpdateOptions<typename Rule::Options>>();
}

inline void require_alike(const std::string& op, Specs group) {
  require_same_dtype(op.c_str(), group);
  for (const TensorSpec& operand : group)
    require<ShapeError>(operand.shape == group[0].shape, "{}: the parameter has shape {}, an operand {}", op,
                        group[0].shape, operand.shape);
}

inline void require_numbers(const std::string& op, const TensorSpec& numbers) {
  require<DTypeError>(numbers.dtype == DType::f64, "{}: the numbers of the step are {}, not f64", op,
                      name_of(numbers.dtype));
  require<ShapeError>(numbers.shape == Shape{2},
                      "{}: the numbers of the step have shape {}, expected [2]: learning rate and step", op,
                      numbers.shape);
}

template <class Rule>
void require_rule(const std::string& op, const typename Rule::Options& options) {
  require<ValueError>(fits<Rule>(options), "{}: its operands are not those of {}", op,
                      schema_of<typename Rule::Options>().describe(Attributes::of(options)));
}

/// `numbers` may be undefined.
template <class Rule>
void require_options(const std::string& op, const TensorSpec& numbers, const Attributes& attributes) {
  const auto& options = options_of<Rule>(attributes);
  require_rule<Rule>(op, options);
  if (numbers.defined) return require_numbers(op, numbers);
  require<ValueError>(options.step >= 1, "{}: steps count from 1, not {}", op, options.step);
}

/// All of a group but the gradient.
inline void append_updated(Specs group, std::vector<TensorSpec>& updated) {
  updated.push_back(group[0]);
  updated.insert(updated.end(), group.begin() + 2, group.end());
}

/// One parameter: the rule's operands, then perhaps the numbers.
template <class Rule>
std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  constexpr size_t kOperands = kOperandsOf<Rule>;
  require<ValueError>(inputs.size() == kOperands || inputs.size() == kOperands + 1,
                      "{}: {} operands and maybe the numbers, not {}", Rule::kName, kOperands, inputs.size());
  require_alike(Rule::kName, inputs.first(kOperands));
  require_options<Rule>(Rule::kName, inputs.size() > kOperands ? inputs[kOperands] : TensorSpec::of(Tensor()),
                        attributes);
  std::vector<TensorSpec> updated;
  append_updated(inputs.first(kOperands), updated);
  return updated;
}

/// The numbers, then groups of the rule's operands.
template <class Rule>
std::vector<TensorSpec> infer_all(Specs inputs, const Attributes& attributes) {
  constexpr size_t kOperands = kOperandsOf<Rule>;
  const std::string name = name_of_all<Rule>();
  require<ValueError>((inputs.size() - 1) % kOperands == 0, "{}: {} tensors are not groups of {}", name,
                      inputs.size() - 1, kOperands);
  require_options<Rule>(name, inputs[0], attributes);
  require_same_dtype(name.c_str(), inputs.subspan(1));
  std::vector<TensorSpec> updated;
  for (Specs rest = inputs.subspan(1); !rest.empty(); rest = rest.subspan(kOperands)) {
    require_alike(name, rest.first(kOperands));
    append_updated(rest.first(kOperands), updated);
  }
  return updated;
}

/// The reference of one element, whose values are the parameter, its gradient and what the rule keeps.
template <class Rule>
void update_reference(const typename Rule::Options& options, StepNumbers numbers,
                      double (&value)[kOperandsOf<Rule>]) {
  KeptElement kept(Rule::kSlots, value + 2);
  declaration_of<Rule>().reference(options, numbers, value[0], value[1], kept);
}

/// Updates a copy of one group; returns all but the gradient.
template <class Rule>
std::vector<ReferenceTensor> reference_of_group(ReferenceInputs group, const ReferenceTensor* numbers,
                                                const Attributes& attributes) {
  constexpr size_t kOperands = kOperandsOf<Rule>;
  const auto& options = options_of<Rule>(attributes);
  const bool given = numbers && numbers->defined;
  const StepNumbers n = given ? StepNumbers{numbers->values[0], numbers->values[1]} : options.numbers();
  std::vector<ReferenceTensor> x(group.begin(), group.end());
  for (size_t i = 0; i < x[0].values.size(); ++i) {
    double value[kOperands];
    for (size_t k = 0; k < kOperands; ++k) value[k] = x[k].values[i];
    update_reference<Rule>(options, n, value);
    for (size_t k = 0; k < kOperands; ++k) x[k].values[i] = value[k];
  }
  x.erase(x.begin() + 1);
  return x;
}

template <class Rule>
std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  constexpr size_t kOperands = kOperandsOf<Rule>;
  return reference_of_group<Rule>(inputs.first(kOperands),
                                  inputs.size() > kOperands ? &inputs[kOperands] : nullptr, attributes);
}

template <class Rule>
std::vector<ReferenceTensor> reference_of_all(ReferenceInputs inputs, const Attributes& attributes) {
  constexpr size_t kOperands = kOperandsOf<Rule>;
  std::vector<ReferenceTensor> updated;
  for (auto rest = inputs.subspan(1); !rest.empty(); rest = rest.subspan(kOperands))
    for (auto& tensor : reference_of_group<Rule>(rest.first(kOperands), &inputs[0], attributes))
      updated.push_back(std::move(tensor));
  return updated;
}

/// How tests fill slot `k` of a rule.
template <class Rule>
TestFill fill_of_slot(size_t k) {
  const auto& fills = declaration_of<Rule>().fills;
  const auto found = fills.find(Rule::kSlots[k]);
  return found == fills.end() ? TestFill{} : found->second;
}

/// One parameter's operands; `of_gradient` is the layout of operand 1.
template <class Rule>
void add_group(TestCase& c, const Shape& shape, TestLayout layout = TestLayout::contiguous,
               TestLayout of_gradient = TestLayout::contiguous) {
  c.inputs.push_back({shape, {}, layout});
  c.inputs.push_back({shape, {}, of_gradient});
  for (size_t k = 0; k < Rule::kSlots.size(); ++k) c.inputs.push_back({shape, fill_of_slot<Rule>(k), layout});
}

inline TestInput numbers_input(TestFill fill, bool defined = true) {
  TestInput numbers{{2}, fill};
  numbers.dtype = {DType::f64};
  numbers.defined = defined;
  return numbers;
}

inline constexpr TestFill kFirstStep{TestFill::constant, 1};     ///< learning rate 1 at step 1
inline constexpr TestFill kLaterStep{TestFill::integers, 2, 6};  ///< both at least 2

/// The examples that the rule serves.
template <class Rule>
std::vector<LabelledOptions<typename Rule::Options>> examples() {
  std::vector<LabelledOptions<typename Rule::Options>> list;
  for (const auto& example : declaration_of<Rule>().examples)
    if (fits<Rule>(example.options)) list.push_back(example);
  require(!list.empty(), "{}: its declaration has no example of it", Rule::kName);
  return list;
}

template <class Options>
Attributes at_step(const Options& options, int64_t step) {
  return Attributes::of(UpdateOptions<Options>{options, 0.05, step});
}

struct LayoutCase {
  const char* label;
  Shape shape;
  TestLayout layout, of_gradient;
};

inline std::vector<LayoutCase> layout_cases() {
  const TestLayout rows = TestLayout::contiguous, nhwc = TestLayout::channels_last;
  return {{"odd", {1027}, rows, rows},
          {"one", {1}, rows, rows},
          {"empty", {0, 3}, rows, rows},
          {"channels_last", {4, 3, 2, 5}, nhwc, nhwc},
          {"mixed layouts", {4, 3, 2, 5}, nhwc, rows},
          {"sliced", {5, 7}, TestLayout::sliced, TestLayout::transposed}};
}

/// Each example at the first step and at a later one.
template <class Rule>
std::vector<TestCase> cases() {
  std::vector<TestCase> list;
  for (auto& [label, options] : examples<Rule>()) {
    list.push_back({fmt::format("{}, step 1", label), {}, at_step(options, 1)});
    add_group<Rule>(list.back(), {67});
    for (const LayoutCase& one : layout_cases()) {
      list.push_back({fmt::format("{}, step 10, {}", label, one.label), {}, at_step(options, 10)});
      add_group<Rule>(list.back(), one.shape, one.layout, one.of_gradient);
    }
  }
  for (TestFill fill : {kFirstStep, kLaterStep}) {
    list.push_back({"numbers", {}, at_step(examples<Rule>().back().options, 1)});
    add_group<Rule>(list.back(), {67});
    list.back().inputs.push_back(numbers_input(fill));
  }
  return list;
}

template <class Rule>
std::vector<TestCase> cases_of_all() {
  std::vector<TestCase> list;
  auto add = [&](const char* label, const auto& options, const TestInput& numbers) -> TestCase& {
    list.push_back({label, {numbers}, at_step(options, 10)});
    return list.back();
  };
  for (auto& [label, options] : examples<Rule>()) {
    TestCase& c = add(label, options, numbers_input({}, false));
    for (const LayoutCase& one : layout_cases()) add_group<Rule>(c, one.shape, one.layout, one.of_gradient);
  }
  const auto options = examples<Rule>().back().options;
  add_group<Rule>(add("one parameter", options, numbers_input(kFirstStep)), {3, 5});
  TestCase& many = add("many parameters", options, numbers_input(kLaterStep));
  for (int64_t i = 0; i < 70; ++i) add_group<Rule>(many, {i % 7, 3});
  TestCase& empty = add("nothing", options, numbers_input(kLaterStep));
  for (int i = 0; i < 2; ++i) add_group<Rule>(empty, {0});
  return list;
}

/// A few roundings of numbers as large as the operands, of which gradients of up to 2 may be squared.
inline ErrorModel error(Specs, const Attributes&) { return {ErrorModel::largest_input, 8}; }

/// The operands of a group that an update writes.
template <class Rule>
std::vector<int> mutated() {
  std::vector<int> list{0};
  for (int k = 2; k < kOperandsOf<Rule>; ++k) list.push_back(k);
  return list;
}

}  // namespace update_ops

/// Declares the ops of a rule: the update of one parameter and that of all.
template <class Rule>
void declare_updates(Registry& registry) {
  using namespace update_ops;
  const auto operations = for_each_output(double(Rule::kOperations) / (kOperandsOf<Rule> - 1));
  registry.add({.name = Rule::kName,
                .summary = Rule::kSummary,
                .options = &schema_of<UpdateOptions<typename Rule::Options>>(),
                .infer = infer<Rule>,
                .reference = update_ops::reference<Rule>,
                .mutates = mutated<Rule>(),
                .cases = cases<Rule>,
                .error = error,
                .operations = operations});
  registry.add({.name = name_of_all<Rule>(),
                .summary = std::string("for each parameter ") + Rule::kSummary,
                .options = &schema_of<UpdateOptions<typename Rule::Options>>(),
                .dtype_operand = 1,
                .optional = {0},
                .infer = infer_all<Rule>,
                .reference = reference_of_all<Rule>,
                .mutates = mutated<Rule>(),
                .group_begin = 1,
                .group_size = kOperandsOf<Rule>,
                .cases = cases_of_all<Rule>,
                .error = error,
                .operations = operations});
}

}  // namespace treadle
