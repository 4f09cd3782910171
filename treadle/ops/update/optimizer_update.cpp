#include "treadle/ops/update/optimizer_update.h"

#include "treadle/graph/cost.h"
#include "treadle/ops/update/rule_op.h"

namespace treadle {
namespace {

constexpr TestFill kFirstStep{TestFill::constant, 1};     ///< learning rate 1 at step 1
constexpr TestFill kLaterStep{TestFill::integers, 2, 6};  ///< both at least 2
constexpr double kLearningRate = 0.05;                    ///< where the options of a test hold it

void require_alike(const std::string& op, Specs group) {
  require_same_dtype(op.c_str(), group);
  for (const TensorSpec& operand : group)
    require<ShapeError>(operand.shape == group[0].shape, "{}: the parameter has shape {}, an operand {}", op,
                        group[0].shape, operand.shape);
}

/// `numbers` may be undefined.
void require_options(const RuleOp& rule, const std::string& op, const TensorSpec& numbers,
                     const Attributes& of_update) {
  rule.require_fit(op, rule.without_numbers(of_update));
  if (numbers.defined) return require_numbers_of_step(op, numbers);
  const StepNumbers given = rule.numbers(of_update);
  require<ValueError>(given.step >= 1, "{}: steps count from 1, not {}", op, given.step);
}

/// All of a group but the gradient.
void append_updated(Specs group, std::vector<TensorSpec>& updated) {
  updated.push_back(group[0]);
  updated.insert(updated.end(), group.begin() + 2, group.end());
}

/// One parameter: the rule's operands, then perhaps the numbers.
std::vector<TensorSpec> infer(const RuleOp& rule, Specs inputs, const Attributes& of_update) {
  const size_t operands = rule.operands();
  require<ValueError>(inputs.size() == operands || inputs.size() == operands + 1,
                      "{}: {} operands and maybe the numbers, not {}", rule.name, operands, inputs.size());
  require_alike(rule.name, inputs.first(operands));
  require_options(rule, rule.name, inputs.size() > operands ? inputs[operands] : TensorSpec::of(Tensor()),
                  of_update);
  std::vector<TensorSpec> updated;
  append_updated(inputs.first(operands), updated);
  return updated;
}

/// The numbers, then groups of the rule's operands.
std::vector<TensorSpec> infer_all(const RuleOp& rule, Specs inputs, const Attributes& of_update) {
  const size_t operands = rule.operands();
  const std::string name = name_of_all(rule.name);
  require<ValueError>((inputs.size() - 1) % operands == 0, "{}: {} tensors are not groups of {}", name,
                      inputs.size() - 1, operands);
  require_options(rule, name, inputs[0], of_update);
  require_same_dtype(name.c_str(), inputs.subspan(1));
  std::vector<TensorSpec> updated;
  for (Specs rest = inputs.subspan(1); !rest.empty(); rest = rest.subspan(operands)) {
    require_alike(name, rest.first(operands));
    append_updated(rest.first(operands), updated);
  }
  return updated;
}

/// Updates a copy of one group; returns all but the gradient.
std::vector<ReferenceTensor> reference_of_group(const RuleOp& rule, ReferenceInputs group,
                                                const ReferenceTensor* numbers, const Attributes& of_update) {
  const Attributes options = rule.without_numbers(of_update);
  const bool given = numbers && numbers->defined;
  const StepNumbers n = given ? StepNumbers{numbers->values[0], numbers->values[1]} : rule.numbers(of_update);
  std::vector<ReferenceTensor> x(group.begin(), group.end());
  std::vector<double> element(x.size());
  for (size_t i = 0; i < x[0].values.size(); ++i) {
    for (size_t k = 0; k < x.size(); ++k) element[k] = x[k].values[i];
    rule.reference(options, n, element.data());
    for (size_t k = 0; k < x.size(); ++k) x[k].values[i] = element[k];
  }
  x.erase(x.begin() + 1);
  return x;
}

std::vector<ReferenceTensor> reference(const RuleOp& rule, ReferenceInputs inputs,
                                       const Attributes& of_update) {
  const size_t operands = rule.operands();
  return reference_of_group(rule, inputs.first(operands),
                            inputs.size() > operands ? &inputs[operands] : nullptr, of_update);
}

std::vector<ReferenceTensor> reference_of_all(const RuleOp& rule, ReferenceInputs inputs,
                                              const Attributes& of_update) {
  std::vector<ReferenceTensor> updated;
  for (auto rest = inputs.subspan(1); !rest.empty(); rest = rest.subspan(rule.operands()))
    for (auto& tensor : reference_of_group(rule, rest.first(rule.operands()), &inputs[0], of_update))
      updated.push_back(std::move(tensor));
  return updated;
}

/// One parameter's operands; `of_gradient` is the layout of operand 1.
void add_group(const RuleOp& rule, TestCase& c, const Shape& shape,
               TestLayout layout = TestLayout::contiguous, TestLayout of_gradient = TestLayout::contiguous) {
  c.inputs.push_back({shape, {}, layout});
  c.inputs.push_back({shape, {}, of_gradient});
  for (size_t k = 0; k < rule.slots.size(); ++k) c.inputs.push_back({shape, rule.fill_of_slot(k), layout});
}

struct LayoutCase {
  const char* label;
  Shape shape;
  TestLayout layout, of_gradient;
};

std::vector<LayoutCase> layout_cases() {
  const TestLayout rows = TestLayout::contiguous, nhwc = TestLayout::channels_last;
  return {{"odd", {1027}, rows, rows},
          {"one", {1}, rows, rows},
          {"empty", {0, 3}, rows, rows},
          {"channels_last", {4, 3, 2, 5}, nhwc, nhwc},
          {"mixed layouts", {4, 3, 2, 5}, nhwc, rows},
          {"sliced", {5, 7}, TestLayout::sliced, TestLayout::transposed}};
}

/// Each example at the first step and at a later one.
std::vector<TestCase> cases(const RuleOp& rule) {
  std::vector<TestCase> list;
  for (auto& [label, options] : rule.examples) {
    list.push_back({fmt::format("{}, step 1", label), {}, rule.at(options, kLearningRate, 1)});
    add_group(rule, list.back(), {67});
    for (const LayoutCase& one : layout_cases()) {
      list.push_back(
          {fmt::format("{}, step 10, {}", label, one.label), {}, rule.at(options, kLearningRate, 10)});
      add_group(rule, list.back(), one.shape, one.layout, one.of_gradient);
    }
  }
  for (TestFill fill : {kFirstStep, kLaterStep}) {
    list.push_back({"numbers", {}, rule.at(rule.examples.back().second, kLearningRate, 1)});
    add_group(rule, list.back(), {67});
    list.back().inputs.push_back(numbers_of_step(fill));
  }
  return list;
}

std::vector<TestCase> cases_of_all(const RuleOp& rule) {
  std::vector<TestCase> list;
  auto add = [&](const std::string& label, const Attributes& options, const TestInput& numbers) -> TestCase& {
    list.push_back({label, {numbers}, rule.at(options, kLearningRate, 10)});
    return list.back();
  };
  for (auto& [label, options] : rule.examples) {
    TestCase& c = add(label, options, numbers_of_step({}, false));
    for (const LayoutCase& one : layout_cases()) add_group(rule, c, one.shape, one.layout, one.of_gradient);
  }
  const Attributes& options = rule.examples.back().second;
  add_group(rule, add("one parameter", options, numbers_of_step(kFirstStep)), {3, 5});
  TestCase& many = add("many parameters", options, numbers_of_step(kLaterStep));
  for (int64_t i = 0; i < 70; ++i) add_group(rule, many, {i % 7, 3});
  TestCase& empty = add("nothing", options, numbers_of_step(kLaterStep));
  for (int i = 0; i < 2; ++i) add_group(rule, empty, {0});
  return list;
}

/// A few roundings of numbers as large as the operands, of which gradients of up to 2 may be squared.
ErrorModel error(Specs, const Attributes&) { return {ErrorModel::largest_input, 8}; }

/// The operands of a group that an update writes: all but the gradient.
std::vector<int> mutated(const RuleOp& rule) {
  std::vector<int> list{0};
  for (size_t k = 2; k < rule.operands(); ++k) list.push_back(int(k));
  return list;
}

void declare(Registry& registry, const RuleOp& rule) {
  const auto operations = for_each_output(rule.operations / double(rule.operands() - 1));
  registry.add({.name = rule.name,
                .summary = rule.summary,
                .options = rule.options_of_update,
                .infer = std::bind_front(infer, rule),
                .reference = std::bind_front(reference, rule),
                .mutates = mutated(rule),
                .cases = [rule] { return cases(rule); },
                .error = error,
                .operations = operations});
  registry.add({.name = name_of_all(rule.name),
                .summary = "for each parameter " + rule.summary,
                .options = rule.options_of_update,
                .dtype_operand = 1,
                .optional = {0},
                .infer = std::bind_front(infer_all, rule),
                .reference = std::bind_front(reference_of_all, rule),
                .mutates = mutated(rule),
                .group_begin = 1,
                .group_size = int(rule.operands()),
                .cases = [rule] { return cases_of_all(rule); },
                .error = error,
                .operations = operations});
}

}  // namespace

std::vector<RuleOp>& rule_ops() {
  static std::vector<RuleOp> list;
  return list;
}

namespace ops {

void register_optimizer_update(Registry& registry) {
  for (const RuleOp& rule : rule_ops()) declare(registry, rule);
}

}  // namespace ops
}  // namespace treadle
