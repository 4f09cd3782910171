#include "treadle/optim/rule_optimizer.h"

#include "treadle/core/error.h"
#include "treadle/core/nearest_name.h"
#include "treadle/graph/apply.h"
#include "treadle/graph/registry.h"

namespace treadle {

std::vector<Rule>& detail::mutable_rules() {
  static std::vector<Rule> all;
  return all;
}

const std::vector<Rule>& known_rules() {
  registry();
  return detail::mutable_rules();
}

const Rule& rule_of(const std::type_info& options) {
  for (const Rule& rule : known_rules())
    if (*rule.type == options) return rule;
  throw ValueError(fmt::format("no rule of optimizers has the options {}", options.name()));
}

const RuleForm& Rule::form_for(const Attributes& chosen) const {
  for (const RuleForm& form : forms)
    if (form.fits(chosen)) return form;
  throw ValueError(fmt::format("{}: no rule serves {}", name, options->describe(chosen)));
}

namespace {

const RuleForm& checked_form(const Rule& rule, const Attributes& options) {
  rule.check(options);
  return rule.form_for(options);
}

}  // namespace

RuleOptimizer::RuleOptimizer(std::vector<NamedTensor> parameters, double learning_rate, const Rule& rule,
                             Attributes options)
    : Optimizer(std::move(parameters), learning_rate),
      rule_(rule),
      form_(checked_form(rule, options)),
      update_all_(op_named(form_.update_all)),
      options_(std::move(options)) {
  for (const std::string& slot : form_.slots) add_slot(slot);
}

void RuleOptimizer::update(const Tensor& numbers, int64_t step, const std::vector<Tensor>& groups) {
  if (groups.empty()) return;
  const bool fixed = numbers.defined();
  const Attributes attributes = rule_.at(options_, fixed ? 0 : learning_rate(), fixed ? 1 : step);
  std::vector<Tensor> inputs{numbers};
  inputs.insert(inputs.end(), groups.begin(), groups.end());
  apply_in_place(update_all_, std::move(inputs), attributes);
}

std::vector<std::string> known_optimizers() {
  std::vector<std::string> names;
  for (const Rule& rule : known_rules())
    for (const NamedOptions& preset : rule.presets) names.push_back(preset.name);
  return names;
}

std::unique_ptr<Optimizer> make_optimizer(const std::string& name, std::vector<NamedTensor> parameters,
                                          double learning_rate) {
  for (const Rule& rule : known_rules())
    for (const NamedOptions& preset : rule.presets)
      if (preset.name == name)
        return std::make_unique<RuleOptimizer>(std::move(parameters), learning_rate, rule, preset.options);
  throw ValueError(unknown_name("no optimizer is called", name, known_optimizers()));
}

}  // namespace treadle
