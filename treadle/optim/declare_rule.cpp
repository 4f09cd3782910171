#include "treadle/optim/declare_rule.h"

namespace treadle {

double& KeptElement::operator[](std::string_view name) {
  for (size_t i = 0; i < names_.size(); ++i)
    if (name == names_[i]) return values_[i];
  throw Error(fmt::format("a reference asks for '{}', which its rule does not keep", name));
}

RuleForm rule_declaration::form_of(RuleOp rule) {
  require(!rule.examples.empty(), "{}: its declaration has no example of it", rule.name);
  RuleForm form{rule.fits, rule.name, name_of_all(rule.name), rule.slots};
  rule_ops().push_back(std::move(rule));
  return form;
}

}  // namespace treadle
