/// How the folder of a rule that is no step of single elements declares it: by the groups that it makes of a
/// model's parameters.
#pragma once

#include <string>
#include <vector>

#include "treadle/optim/rule_optimizer.h"

namespace treadle {

template <class Options>
void declare_grouped_rule(std::string name, OptimizerClass as_class,
                          std::vector<ParameterGroup> (*groups)(const std::vector<NamedTensor>& parameters,
                                                                const Options& options, bool decay_vectors)) {
  detail::mutable_grouped_rules().push_back(
      {std::move(name), std::move(as_class), &schema_of<Options>(),
       [groups](const std::vector<NamedTensor>& parameters, const Attributes& options, bool decay_vectors) {
         return groups(parameters, options.as<Options>(), decay_vectors);
       }});
}

}  // namespace treadle
