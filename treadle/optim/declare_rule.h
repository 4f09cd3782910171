/// How the folder of a rule declares it.
#pragma once

#include "treadle/ops/matrix/linear_update_declaration.h"
#include "treadle/ops/update/rule_declaration.h"
#include "treadle/optim/rule_optimizer.h"

namespace treadle {
namespace rule_declaration {

template <class Form>
RuleForm form_of() {
  using Options = typename Form::Options;
  return {[](const Attributes& options) { return fits<Form>(options.as<Options>()); },
          Form::kName,
          name_of_all<Form>(),
          {Form::kSlots.begin(), Form::kSlots.end()}};
}

template <class Options>
std::vector<NamedOptions> named(const std::vector<LabelledOptions<Options>>& list) {
  std::vector<NamedOptions> result;
  for (const auto& [label, options] : list) result.push_back({label, Attributes::of(options)});
  return result;
}

template <class Options>
Attributes at(const Attributes& options, double learning_rate, int64_t step) {
  return Attributes::of(UpdateOptions<Options>{options.as<Options>(), learning_rate, step});
}

template <class Options>
void check(const Attributes& options) {
  update_ops::declared<Options>.check(options.as<Options>());
}

}  // namespace rule_declaration

/// Makes the rules known, to optimizers and by their ops.
template <class Options, class... Forms>
void declare_rules(Registry& registry, RuleForms<Forms...>, RuleDeclaration<Options> declaration) {
  detail::mutable_rules().push_back({declaration.name,
                                     &typeid(Options),
                                     &schema_of<Options>(),
                                     {rule_declaration::form_of<Forms>()...},
                                     rule_declaration::check<Options>,
                                     rule_declaration::at<Options>,
                                     rule_declaration::named(declaration.presets),
                                     rule_declaration::named(declaration.examples)});
  update_ops::declared<Options> = std::move(declaration);
  (declare_updates<Forms>(registry), ...);
  (declare_linear_update<Forms>(registry), ...);
}

}  // namespace treadle
