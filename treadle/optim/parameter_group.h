/// Groups of parameters, each with a rule of its own.
#pragma once  // public

#include <memory>
#include <string>
#include <vector>

#include "treadle/nn/module.h"
#include "treadle/ops/update/rule.h"

namespace treadle {

/// How parameters are updated: a rule with its options.
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;
  /// "Adam", for messages.
  virtual std::string name() const = 0;
  /// What is kept for each parameter, zeros at first; names such as "momentum".
  virtual const std::vector<std::string>& slots() const = 0;
  /// Updates parameters of one dtype and device. `operands` holds for each the parameter, its gradient and
  /// what is kept in the order of slots(). The tensor `numbers`, where defined, holds the numbers of the step
  /// in place of `n`, see ops/update/rule.h.
  virtual void update(const Tensor& numbers, StepNumbers n, const std::vector<Tensor>& operands) const = 0;
};

struct ParameterGroup {
  std::vector<NamedTensor> parameters;
  std::shared_ptr<const UpdateRule> rule;
  double rate_factor = 1;  ///< of the optimizer's learning rate, scheduled or not
};

}  // namespace treadle
