/// Optimizers by a rule, and the rules that there are.
#pragma once  // public

#include <functional>
#include <map>
#include <string>
#include <typeinfo>
#include <vector>

#include "treadle/graph/options.h"
#include "treadle/optim/optimizer.h"

namespace treadle {

/// An optimizer as a class of its own, which Python has under PyTorch's name where both mean the same.
struct OptimizerClass {
  std::string name = {};        ///< "AdamW"; empty: it is none
  double learning_rate = 1e-3;  ///< where none is given; PyTorch's
};

/// Options with the name by which users ask for them, or the label of a test.
struct NamedOptions {
  std::string name;
  Attributes options;
  OptimizerClass as_class = {};  ///< of a preset
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

/// What a group of parameters is updated by. Throws what the rule's check throws.
TREADLE_API std::shared_ptr<const UpdateRule> update_by(const Rule& rule, const Attributes& options);
/// `Optimizer({{weights, update_by(SgdOptions{.weight_decay = 1e-4})}, {biases, update_by(SgdOptions())}},
/// 0.1)`
template <class Options>
std::shared_ptr<const UpdateRule> update_by(const Options& options) {
  return update_by(rule_of(typeid(Options)), Attributes::of(options));
}

/// What options make_optimizer() takes by this name. Throws ValueError for names that there are not.
TREADLE_API const OptionsSchema& optimizer_options(const std::string& name);

/// The groups that make_optimizer() makes of parameters. Throws what it throws.
TREADLE_API std::vector<ParameterGroup> groups_called(const std::string& name,
                                                      std::vector<NamedTensor> parameters,
                                                      const OptimizerSettings& settings = {});

/// By one of the names that rules have for their options, with other values of some. Throws ValueError for
/// names that there are not.
TREADLE_API std::shared_ptr<const UpdateRule> update_called(
    const std::string& name, const std::map<std::string, OptionValue>& others = {});

/// Two groups with these options: parameters of two axes or more, and the others, biases and the weights of
/// normalisations, without weight decay. Throws ValueError for a rule that has no option of that name.
TREADLE_API std::vector<ParameterGroup> decay_matrices_only(const std::vector<NamedTensor>& parameters,
                                                            const Rule& rule, const Attributes& options);
template <class Options>
std::vector<ParameterGroup> decay_matrices_only(const std::vector<NamedTensor>& parameters,
                                                const Options& options) {
  return decay_matrices_only(parameters, rule_of(typeid(Options)), Attributes::of(options));
}

/// An optimizer by any rule.
class TREADLE_API RuleOptimizer : public Optimizer {
 public:
  /// Throws what Optimizer and the rule's check throw.
  RuleOptimizer(std::vector<NamedTensor> parameters, double learning_rate, const Rule& rule,
                const Attributes& options)
      : Optimizer({{std::move(parameters), update_by(rule, options)}}, learning_rate) {}
};

/// The class of a rule: `using Adam = OptimizerWith<AdamOptions>;`
template <class Options>
class OptimizerWith final : public RuleOptimizer {
 public:
  OptimizerWith(std::vector<NamedTensor> parameters, double learning_rate, const Options& options = {})
      : RuleOptimizer(std::move(parameters), learning_rate, rule_of(typeid(Options)),
                      Attributes::of(options)) {}
};

/// A rule that looks at more than single elements, as groups that it makes of a model's parameters.
struct GroupedRule {
  std::string name;  ///< by which users ask for it
  OptimizerClass as_class;
  const OptionsSchema* options;
  std::function<std::vector<ParameterGroup>(const std::vector<NamedTensor>& parameters,
                                            const Attributes& options, bool decay_vectors)>
      groups;
};

/// Sorted by folder.
TREADLE_API const std::vector<GroupedRule>& known_grouped_rules();

namespace detail {
/// Filled by the generated register_everything().
std::vector<Rule>& mutable_rules();
std::vector<GroupedRule>& mutable_grouped_rules();
}  // namespace detail

}  // namespace treadle
