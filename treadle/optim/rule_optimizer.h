/// Optimizers by a rule, and the rules that there are.
#pragma once  // public

#include <functional>
#include <string>
#include <typeinfo>
#include <vector>

#include "treadle/graph/options.h"
#include "treadle/optim/optimizer.h"

namespace treadle {

struct Op;

/// Options with the name by which users ask for them, or the label of a test.
struct NamedOptions {
  std::string name;
  Attributes options;
};

/// One of the rules with the same options: which of these it serves, its ops, and what it keeps.
struct RuleForm {
  std::function<bool(const Attributes& options)> fits;
  std::string update, update_all;
  std::vector<std::string> slots;
};

/// All that optimizers and tests know of a rule. Its folder below treadle/optim declares it.
struct Rule {
  std::string name;  ///< of the class: "Adam"
  const std::type_info* type;
  const OptionsSchema* options;
  std::vector<RuleForm> forms;
  /// Throws ValueError for options that make no rule.
  std::function<void(const Attributes& options)> check;
  /// The options of an update.
  std::function<Attributes(const Attributes& options, double learning_rate, int64_t step)> at;
  std::vector<NamedOptions> presets;
  std::vector<NamedOptions> examples;  ///< away from the defaults, for tests

  /// Throws ValueError where none does.
  TREADLE_API const RuleForm& form_for(const Attributes& options) const;
};

/// Sorted by folder.
TREADLE_API const std::vector<Rule>& known_rules();

/// Of the options' type.
TREADLE_API const Rule& rule_of(const std::type_info& options);

/// An optimizer by any rule.
class TREADLE_API RuleOptimizer : public Optimizer {
 public:
  /// Throws what Optimizer and the rule's check throw.
  RuleOptimizer(std::vector<NamedTensor> parameters, double learning_rate, const Rule& rule,
                Attributes options);

 protected:
  std::string name() const override { return rule_.name; }
  void update(const Tensor& numbers, int64_t step, const std::vector<Tensor>& groups) override;

 private:
  const Rule& rule_;
  const RuleForm& form_;
  const Op& update_all_;
  Attributes options_;
};

/// The class of a rule: `using Adam = OptimizerWith<AdamOptions>;`
template <class Options>
class OptimizerWith final : public RuleOptimizer {
 public:
  OptimizerWith(std::vector<NamedTensor> parameters, double learning_rate, const Options& options = {})
      : RuleOptimizer(std::move(parameters), learning_rate, rule_of(typeid(Options)),
                      Attributes::of(options)) {}
};

namespace detail {
/// Filled by the generated register_everything().
std::vector<Rule>& mutable_rules();
}  // namespace detail

}  // namespace treadle
