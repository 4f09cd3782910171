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

std::vector<GroupedRule>& detail::mutable_grouped_rules() {
  static std::vector<GroupedRule> all;
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

/// One step for each element, by the op of the rule that updates any number of parameters.
class UpdateOfElements final : public UpdateRule {
 public:
  UpdateOfElements(const Rule& rule, const Attributes& options)
      : rule_(rule),
        form_(checked_form(rule, options)),
        update_all_(op_named(form_.update_all)),
        options_(options) {}

  std::string name() const override { return rule_.name; }
  const std::vector<std::string>& slots() const override { return form_.slots; }

  void update(const Tensor& numbers, StepNumbers n, const std::vector<Tensor>& operands) const override {
    std::vector<Tensor> inputs{numbers};
    inputs.insert(inputs.end(), operands.begin(), operands.end());
    apply_in_place(update_all_, std::move(inputs), rule_.at(options_, n.learning_rate, int64_t(n.step)));
  }

 private:
  const Rule& rule_;
  const RuleForm& form_;
  const Op& update_all_;
  Attributes options_;
};

/// The options with other values of some. Throws ValueError for names that there are not.
Attributes with(const OptionsSchema& schema, const Attributes& options,
                const std::map<std::string, OptionValue>& others) {
  std::map<std::string, OptionValue> values;
  for (const OptionField& field : schema.fields) values[field.name] = field.get(options.data());
  for (const auto& [name, value] : others) values[name] = value;
  return schema.make(values);
}

}  // namespace

std::shared_ptr<const UpdateRule> update_by(const Rule& rule, const Attributes& options) {
  return std::make_shared<UpdateOfElements>(rule, options);
}

std::vector<ParameterGroup> decay_matrices_only(const std::vector<NamedTensor>& parameters, const Rule& rule,
                                                const Attributes& options) {
  const Attributes undecayed = with(*rule.options, options, {{"weight_decay", 0.0}});
  std::vector<ParameterGroup> groups{{{}, update_by(rule, options)}, {{}, update_by(rule, undecayed)}};
  for (const NamedTensor& parameter : parameters)
    groups[parameter.tensor.rank() < 2].parameters.push_back(parameter);
  return groups;
}

const std::vector<GroupedRule>& known_grouped_rules() {
  registry();
  return detail::mutable_grouped_rules();
}

namespace {

/// A rule with the options that the name stands for; null where it is no name of one.
std::pair<const Rule*, Attributes> find_preset(const std::string& name) {
  for (const Rule& rule : known_rules())
    for (const NamedOptions& preset : rule.presets)
      if (preset.name == name) return {&rule, preset.options};
  return {};
}

/// Where no rule has the name as a preset: throws unless a grouped rule has it.
const GroupedRule& grouped_rule_called(const std::string& name) {
  for (const GroupedRule& rule : known_grouped_rules())
    if (rule.name == name) return rule;
  throw ValueError(unknown_name("no optimizer is called", name, known_optimizers()));
}

}  // namespace

std::vector<std::string> known_optimizers() {
  std::vector<std::string> names;
  for (const Rule& rule : known_rules())
    for (const NamedOptions& preset : rule.presets) names.push_back(preset.name);
  for (const GroupedRule& rule : known_grouped_rules()) names.push_back(rule.name);
  return names;
}

std::shared_ptr<const UpdateRule> update_called(const std::string& name,
                                                const std::map<std::string, OptionValue>& others) {
  const auto [rule, options] = find_preset(name);
  if (!rule) throw ValueError(unknown_name("no rule is called", name, known_optimizers()));
  return update_by(*rule, with(*rule->options, options, others));
}

const OptionsSchema& optimizer_options(const std::string& name) {
  const Rule* rule = find_preset(name).first;
  return rule ? *rule->options : *grouped_rule_called(name).options;
}

std::vector<ParameterGroup> groups_called(const std::string& name, std::vector<NamedTensor> parameters,
                                          const OptimizerSettings& settings) {
  const auto [rule, preset] = find_preset(name);
  if (!rule) {
    const GroupedRule& grouped = grouped_rule_called(name);
    return grouped.groups(parameters, grouped.options->make(settings.options), settings.decay_vectors);
  }
  const Attributes options = with(*rule->options, preset, settings.options);
  if (!settings.decay_vectors) return decay_matrices_only(parameters, *rule, options);
  return {{std::move(parameters), update_by(*rule, options)}};
}

std::unique_ptr<Optimizer> make_optimizer(const std::string& name, std::vector<NamedTensor> parameters,
                                          double learning_rate, const OptimizerSettings& settings) {
  return std::make_unique<Optimizer>(groups_called(name, std::move(parameters), settings), learning_rate);
}

}  // namespace treadle
