/// How the folder of a rule declares it: by what it says of itself beside its step.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "treadle/core/error.h"
#include "treadle/ops/update/rule_op.h"
#include "treadle/optim/rule_optimizer.h"

namespace treadle {

/// What a rule keeps of one element, by name.
class KeptElement {
 public:
  KeptElement(std::span<const char* const> names, double* values) : names_(names), values_(values) {}
  /// Throws Error for a name that is not among its slots.
  double& operator[](std::string_view name);

 private:
  std::span<const char* const> names_;
  double* values_;
};

template <class Options>
struct LabelledOptions {
  const char* label;
  Options options = {};
  OptimizerClass as_class = {};  ///< of a preset: how Python has it
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

namespace rule_declaration {

template <class Options>
std::vector<NamedOptions> named(const std::vector<LabelledOptions<Options>>& list) {
  std::vector<NamedOptions> result;
  for (const auto& [label, options, as_class] : list)
    result.push_back({label, Attributes::of(options), as_class});
  return result;
}

template <class Options>
Attributes at(const Attributes& options, double learning_rate, int64_t step) {
  return Attributes::of(UpdateOptions<Options>{options.as<Options>(), learning_rate, step});
}

template <class Options>
Attributes without_numbers(const Attributes& of_update) {
  const Options& options = of_update.as<UpdateOptions<Options>>();
  return Attributes::of(options);
}

template <class Options>
StepNumbers numbers(const Attributes& of_update) {
  return of_update.as<UpdateOptions<Options>>().numbers();
}

template <class Rule>
bool serves(const Attributes& options) {
  return fits<Rule>(options.as<typename Rule::Options>());
}

/// What the ops of one form need; `examples` are those of all forms.
template <class Rule>
RuleOp op_of(const RuleDeclaration<typename Rule::Options>& declaration,
             const std::vector<NamedOptions>& examples) {
  using Options = typename Rule::Options;
  RuleOp rule{
      .name = Rule::kName,
      .summary = Rule::kSummary,
      .slots = {Rule::kSlots.begin(), Rule::kSlots.end()},
      .operations = double(Rule::kOperations),
      .options = &schema_of<Options>(),
      .options_of_update = &schema_of<UpdateOptions<Options>>(),
      .fits = serves<Rule>,
      .at = at<Options>,
      .without_numbers = without_numbers<Options>,
      .numbers = numbers<Options>,
      .reference =
          [update = declaration.reference](const Attributes& options, StepNumbers step, double* value) {
            KeptElement kept(Rule::kSlots, value + 2);
            update(options.as<Options>(), step, value[0], value[1], kept);
          },
      .examples = {},
      .fills = declaration.fills};
  for (const auto& [label, options, as_class] : examples)
    if (rule.fits(options)) rule.examples.emplace_back(label, options);
  return rule;
}

/// Makes one form known to ops.
RuleForm form_of(RuleOp rule);

}  // namespace rule_declaration

/// Makes the rules known, to optimizers and to the families of ops that take rules.
template <class Options, class... Forms>
void declare_rules(RuleForms<Forms...>, const RuleDeclaration<Options>& declaration) {
  namespace of = rule_declaration;
  const std::vector<NamedOptions> examples = of::named(declaration.examples);
  detail::mutable_rules().push_back(
      {declaration.name,
       &typeid(Options),
       &schema_of<Options>(),
       {of::form_of(of::op_of<Forms>(declaration, examples))...},
       [check = declaration.check](const Attributes& options) { check(options.as<Options>()); },
       of::at<Options>,
       of::named(declaration.presets),
       examples});
}

}  // namespace treadle
