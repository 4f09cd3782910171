/// Updates of parameters in place, by any rule (treadle/optim).
///
/// `numbers`, where given, is a f64 tensor [2] on the parameters' device: the learning rate and the number of
/// the step, counted from 1. It takes the place of learning_rate and step in the options, with the same bits
/// as result on that device; a device reads it when the update runs, not when it is called.
#pragma once  // public

#include <vector>

#include "treadle/graph/apply.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/update/rule.h"

namespace treadle {

/// The op that updates one parameter.
template <class Rule>
const Op& update_op() {
  static const Op& op = op_named(Rule::kName);
  return op;
}

/// The op that updates any number of them.
template <class Rule>
const Op& update_all_op() {
  static const Op& op = op_named(name_of_all<Rule>());
  return op;
}

/// Updates one parameter. `group` is p, its gradient g, and what the rule keeps in the order of its slots;
/// all have p's shape, dtype (floating) and device. Throws ValueError for a step below 1, options that
/// another rule serves and a wrong number of operands; ShapeError, DTypeError.
template <class Rule>
void update_parameter(std::vector<Tensor> group, const UpdateOptions<typename Rule::Options>& options,
                      const Tensor& numbers = {}) {
  if (numbers.defined()) group.push_back(numbers);
  apply_in_place(update_op<Rule>(), std::move(group), Attributes::of(options));
}

/// Updates any number of parameters of one dtype by one call, with the same bits as one call for each.
/// `groups` repeats the operands of update_parameter; `numbers` may be undefined. Throws as it does.
template <class Rule>
void update_parameters(const Tensor& numbers, const std::vector<Tensor>& groups,
                       const UpdateOptions<typename Rule::Options>& options) {
  if (groups.empty()) return;
  std::vector<Tensor> inputs{numbers};
  inputs.insert(inputs.end(), groups.begin(), groups.end());
  apply_in_place(update_all_op<Rule>(), std::move(inputs), Attributes::of(options));
}

}  // namespace treadle
