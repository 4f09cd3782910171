#include "treadle/ops/update/optimizer_update.h"

#include <cmath>

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"

namespace treadle {
namespace {

void require_alike(const char* op, Specs group) {
  require_same_dtype(op, group);
  for (const TensorSpec& operand : group)
    require<ShapeError>(operand.shape == group[0].shape, "{}: the parameter has shape {}, an operand {}", op,
                        group[0].shape, operand.shape);
}

/// Whether the numbers are given; then they must be what an update can read.
bool has_numbers(const char* op, const TensorSpec& numbers) {
  if (!numbers.defined) return false;
  require<DTypeError>(numbers.dtype == DType::f64, "{}: the numbers of the step are {}, not f64", op,
                      name_of(numbers.dtype));
  require<ShapeError>(numbers.shape == Shape{2},
                      "{}: the numbers of the step have shape {}, expected [2]: learning rate and step", op,
                      numbers.shape);
  return true;
}

void require_step(const char* op, const AdamUpdateOptions& options) {
  require<ValueError>(options.step >= 1, "{}: steps count from 1, not {}", op, options.step);
}
void require_step(const char*, const SgdUpdateOptions&) {}

/// One parameter: the rule's operands, then perhaps the numbers.
template <class Rule>
std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  constexpr size_t kOperands = Rule::kOperands;
  require<ValueError>(inputs.size() == kOperands || inputs.size() == kOperands + 1,
                      "{}: {} operands and maybe the numbers, not {}", Rule::kName, kOperands, inputs.size());
  require_alike(Rule::kName, inputs.first(kOperands));
  if (inputs.size() == kOperands || !has_numbers(Rule::kName, inputs[kOperands]))
    require_step(Rule::kName, attributes.as<typename Rule::Options>());
  std::vector<TensorSpec> updated{inputs[0]};
  updated.insert(updated.end(), inputs.begin() + 2, inputs.begin() + kOperands);
  return updated;
}

/// The numbers, then groups of the rule's operands.
template <class Rule>
std::vector<TensorSpec> infer_all(Specs inputs, const Attributes& attributes) {
  constexpr size_t kOperands = Rule::kOperands;
  require<ValueError>((inputs.size() - 1) % kOperands == 0, "{}: {} tensors are not groups of {}",
                      Rule::kNameOfAll, inputs.size() - 1, kOperands);
  if (!has_numbers(Rule::kNameOfAll, inputs[0]))
    require_step(Rule::kNameOfAll, attributes.as<typename Rule::Options>());
  require_same_dtype(Rule::kNameOfAll, inputs.subspan(1));
  std::vector<TensorSpec> updated;
  for (Specs rest = inputs.subspan(1); !rest.empty(); rest = rest.subspan(kOperands)) {
    require_alike(Rule::kNameOfAll, rest.first(kOperands));
    updated.push_back(rest[0]);
    updated.insert(updated.end(), rest.begin() + 2, rest.begin() + kOperands);
  }
  return updated;
}

using Values = std::vector<double>;

void update(const SgdUpdateOptions& o, StepNumbers n, Values& p, const Values& g) {
  for (size_t i = 0; i < p.size(); ++i) p[i] -= n.learning_rate * (g[i] + o.weight_decay * p[i]);
}

void update(const SgdUpdateOptions& o, StepNumbers n, Values& p, const Values& gradient, Values& b) {
  for (size_t i = 0; i < p.size(); ++i) {
    double g = gradient[i] + o.weight_decay * p[i];
    b[i] = n.step == 1 ? g : o.momentum * b[i] + (1 - o.dampening) * g;
    p[i] -= n.learning_rate * (o.nesterov ? g + o.momentum * b[i] : b[i]);
  }
}

void update(const AdamUpdateOptions& o, StepNumbers n, Values& p, const Values& gradient, Values& m,
            Values& v) {
  for (size_t i = 0; i < p.size(); ++i) {
    double g = gradient[i];
    if (o.decoupled)
      p[i] *= 1 - n.learning_rate * o.weight_decay;
    else
      g += o.weight_decay * p[i];
    m[i] = o.beta1 * m[i] + (1 - o.beta1) * g;
    v[i] = o.beta2 * v[i] + (1 - o.beta2) * g * g;
    double mean = m[i] / (1 - std::pow(o.beta1, n.step)), square = v[i] / (1 - std::pow(o.beta2, n.step));
    p[i] -= n.learning_rate * mean / (std::sqrt(square) + o.epsilon);
  }
}

/// Updates a copy of one group; returns all but the gradient.
template <class Rule>
std::vector<ReferenceTensor> reference_of_group(ReferenceInputs group, const ReferenceTensor* numbers,
                                                const Attributes& attributes) {
  const auto& options = attributes.as<typename Rule::Options>();
  StepNumbers n = step_numbers(options);
  if (numbers && numbers->defined) n = {numbers->values[0], numbers->values[1]};
  std::vector<ReferenceTensor> x(group.begin(), group.end());
  if constexpr (Rule::kOperands == 2)
    update(options, n, x[0].values, x[1].values);
  else if constexpr (Rule::kOperands == 3)
    update(options, n, x[0].values, x[1].values, x[2].values);
  else
    update(options, n, x[0].values, x[1].values, x[2].values, x[3].values);
  x.erase(x.begin() + 1);
  return x;
}

template <class Rule>
std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  constexpr size_t kOperands = Rule::kOperands;
  return reference_of_group<Rule>(inputs.first(kOperands),
                                  inputs.size() > kOperands ? &inputs[kOperands] : nullptr, attributes);
}

template <class Rule>
std::vector<ReferenceTensor> reference_of_all(ReferenceInputs inputs, const Attributes& attributes) {
  std::vector<ReferenceTensor> updated;
  for (auto rest = inputs.subspan(1); !rest.empty(); rest = rest.subspan(Rule::kOperands))
    for (auto& tensor : reference_of_group<Rule>(rest.first(Rule::kOperands), &inputs[0], attributes))
      updated.push_back(std::move(tensor));
  return updated;
}

/// Second moments are not negative.
TestFill fill_of_operand(int k) { return k == 3 ? TestFill{TestFill::apart, 0.3, 2} : TestFill{}; }

/// One parameter's operands; `of_gradient` is the layout of operand 1.
void add_group(TestCase& c, int operands, const Shape& shape, TestLayout layout, TestLayout of_gradient) {
  for (int k = 0; k < operands; ++k)
    c.inputs.push_back({shape, fill_of_operand(k), k == 1 ? of_gradient : layout});
}

TestInput numbers_input(TestFill fill, bool defined = true) {
  TestInput numbers{{2}, fill};
  numbers.dtype = {DType::f64};
  numbers.defined = defined;
  return numbers;
}

const TestFill kFirstStep{TestFill::constant, 1};     ///< learning rate 1 at step 1
const TestFill kLaterStep{TestFill::integers, 2, 6};  ///< both at least 2

std::vector<std::pair<const char*, SgdUpdateOptions>> labelled_options(SgdRule) {
  return {{"plain", {0.05}}, {"decay", {0.1, 0, 0, 0.01}}};
}

std::vector<std::pair<const char*, SgdUpdateOptions>> labelled_options(SgdMomentumRule) {
  return {{"momentum", {0.05, 0.9}},
          {"nesterov", {0.05, 0.9, 0, 5e-4, true}},
          {"first", {0.05, 0.9, 0.5, 0, false, true}},
          {"dampening", {0.05, 0.9, 0.5, 0.01}}};
}

std::vector<std::pair<const char*, AdamUpdateOptions>> labelled_options(AdamRule) {
  return {{"first", {.learning_rate = 0.01}},
          {"tenth", {.learning_rate = 0.01, .weight_decay = 0.1, .step = 10}},
          {"decoupled",
           {.learning_rate = 0.01, .epsilon = 1e-3, .weight_decay = 0.1, .decoupled = true, .step = 3}}};
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

template <class Rule>
std::vector<TestCase> cases() {
  std::vector<TestCase> list;
  for (auto& [label, options] : labelled_options(Rule()))
    for (const LayoutCase& one : layout_cases()) {
      list.push_back({std::string(label) + ", " + one.label, {}, Attributes::of(options)});
      add_group(list.back(), Rule::kOperands, one.shape, one.layout, one.of_gradient);
    }
  for (TestFill fill : {kFirstStep, kLaterStep}) {
    list.push_back({"numbers", {}, Attributes::of(labelled_options(Rule()).back().second)});
    add_group(list.back(), Rule::kOperands, {67}, TestLayout::contiguous, TestLayout::contiguous);
    list.back().inputs.push_back(numbers_input(fill));
  }
  return list;
}

template <class Rule>
std::vector<TestCase> cases_of_all() {
  std::vector<TestCase> list;
  auto add = [&](const char* label, const auto& options, const TestInput& numbers) -> TestCase& {
    list.push_back({label, {numbers}, Attributes::of(options)});
    return list.back();
  };
  for (auto& [label, options] : labelled_options(Rule())) {
    TestCase& c = add(label, options, numbers_input({}, false));
    for (const LayoutCase& one : layout_cases())
      add_group(c, Rule::kOperands, one.shape, one.layout, one.of_gradient);
  }
  const auto options = labelled_options(Rule()).back().second;
  const TestLayout rows = TestLayout::contiguous;
  add_group(add("one parameter", options, numbers_input(kFirstStep)), Rule::kOperands, {3, 5}, rows, rows);
  TestCase& many = add("many parameters", options, numbers_input(kLaterStep));
  for (int64_t i = 0; i < 70; ++i) add_group(many, Rule::kOperands, {i % 7, 3}, rows, rows);
  TestCase& empty = add("nothing", options, numbers_input(kLaterStep));
  for (int i = 0; i < 2; ++i) add_group(empty, Rule::kOperands, {0}, rows, rows);
  return list;
}

/// A few roundings of numbers as large as the operands; Adam squares gradients of up to 2.
ErrorModel error(Specs, const Attributes&) { return {ErrorModel::largest_input, 8}; }

template <class Rule>
void register_rule(Registry& registry, const std::string& summary, const std::vector<int>& mutates) {
  registry.add({.name = Rule::kName,
                .summary = summary,
                .options = &schema_of<typename Rule::Options>(),
                .infer = infer<Rule>,
                .reference = reference<Rule>,
                .mutates = mutates,
                .cases = cases<Rule>,
                .error = error,
                .operations = for_each_output(double(Rule::kOperations) / (Rule::kOperands - 1))});
  registry.add({.name = Rule::kNameOfAll,
                .summary = "for each parameter " + summary,
                .options = &schema_of<typename Rule::Options>(),
                .dtype_operand = 1,
                .optional = {0},
                .infer = infer_all<Rule>,
                .reference = reference_of_all<Rule>,
                .mutates = mutates,
                .group_begin = 1,
                .group_size = Rule::kOperands,
                .cases = cases_of_all<Rule>,
                .error = error,
                .operations = for_each_output(double(Rule::kOperations) / (Rule::kOperands - 1))});
}

void update_all(const Op& op, const Tensor& numbers, const std::vector<Tensor>& groups,
                const Attributes& attributes) {
  if (groups.empty()) return;
  std::vector<Tensor> inputs{numbers};
  inputs.insert(inputs.end(), groups.begin(), groups.end());
  apply_in_place(op, std::move(inputs), attributes);
}

/// With the numbers behind, where they are given.
std::vector<Tensor> operands(std::vector<Tensor> inputs, const Tensor& numbers) {
  if (numbers.defined()) inputs.push_back(numbers);
  return inputs;
}

}  // namespace

namespace ops {

void register_optimizer_update(Registry& registry) {
  register_rule<SgdRule>(registry, "p -= rate·(g + weight_decay·p)", {0});
  register_rule<SgdMomentumRule>(registry, "b = momentum·b + (1 - dampening)·g, p -= rate·b", {0, 2});
  register_rule<AdamRule>(registry, "moments m and v of the gradient, p -= rate·m̂ / (√v̂ + ε)", {0, 2, 3});
}

}  // namespace ops

void sgd_update(const Tensor& parameter, const Tensor& gradient, const Tensor& momentum_buffer,
                const SgdUpdateOptions& options, const Tensor& numbers) {
  static const Op &plain = op_named("sgd_update"), &with_momentum = op_named("sgd_momentum_update");
  if (momentum_buffer.defined())
    return apply_in_place(with_momentum, operands({parameter, gradient, momentum_buffer}, numbers),
                          Attributes::of(options));
  require<ValueError>(options.momentum == 0, "sgd_update: momentum {} needs a buffer", options.momentum);
  apply_in_place(plain, operands({parameter, gradient}, numbers), Attributes::of(options));
}

void adam_update(const Tensor& parameter, const Tensor& gradient, const Tensor& first_moment,
                 const Tensor& second_moment, const AdamUpdateOptions& options, const Tensor& numbers) {
  static const Op& op = op_named("adam_update");
  apply_in_place(op, operands({parameter, gradient, first_moment, second_moment}, numbers),
                 Attributes::of(options));
}

const Op& sgd_update_all_op() {
  static const Op& op = op_named("sgd_update_all");
  return op;
}

void sgd_update_all(const Tensor& numbers, const std::vector<Tensor>& groups,
                    const SgdUpdateOptions& options) {
  const Op& op = sgd_update_all_op();
  require<ValueError>(options.momentum == 0, "sgd_update_all: momentum {} needs buffers", options.momentum);
  update_all(op, numbers, groups, Attributes::of(options));
}

void sgd_momentum_update_all(const Tensor& numbers, const std::vector<Tensor>& groups,
                             const SgdUpdateOptions& options) {
  static const Op& op = op_named("sgd_momentum_update_all");
  update_all(op, numbers, groups, Attributes::of(options));
}

void adam_update_all(const Tensor& numbers, const std::vector<Tensor>& groups,
                     const AdamUpdateOptions& options) {
  static const Op& op = op_named("adam_update_all");
  update_all(op, numbers, groups, Attributes::of(options));
}

}  // namespace treadle
