/// What the ops of a rule need of it, whatever the type of its options.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "treadle/core/error.h"
#include "treadle/graph/op.h"
#include "treadle/ops/update/rule.h"

namespace treadle {

/// Options are those of the rule; "of an update" those with the numbers of the step beside them.
struct RuleOp {
  std::string name;  ///< of the op that updates one parameter
  std::string summary;
  std::vector<std::string> slots;
  double operations;  ///< of the step of one element
  const OptionsSchema *options, *options_of_update;
  std::function<bool(const Attributes& options)> fits;
  std::function<Attributes(const Attributes& options, double learning_rate, int64_t step)> at;
  std::function<Attributes(const Attributes& of_update)> without_numbers;
  std::function<StepNumbers(const Attributes& of_update)> numbers;
  /// Updates one element in double: the parameter, its gradient, what is kept.
  std::function<void(const Attributes& options, StepNumbers, double* values)> reference;
  std::vector<std::pair<std::string, Attributes>> examples;  ///< options that it serves, with labels
  std::map<std::string, TestFill> fills;                     ///< by slot

  size_t operands() const { return 2 + slots.size(); }
  TestFill fill_of_slot(size_t slot) const {
    const auto found = fills.find(slots[slot]);
    return found == fills.end() ? TestFill{} : found->second;
  }
  /// Throws ValueError for options that another rule serves.
  void require_fit(const std::string& op, const Attributes& of_rule) const {
    if (fits(of_rule)) return;  // throws for options of another op, which describe() would read beyond
    throw ValueError(fmt::format("{}: its operands are not those of {}", op, options->describe(of_rule)));
  }
};

/// All rules, which the folders of optim/ add before ops register.
std::vector<RuleOp>& rule_ops();

/// Throws DTypeError and ShapeError.
inline void require_numbers_of_step(const std::string& op, const TensorSpec& numbers) {
  require<DTypeError>(numbers.dtype == DType::f64, "{}: the numbers of the step are {}, not f64", op,
                      name_of(numbers.dtype));
  require<ShapeError>(numbers.shape == Shape{2},
                      "{}: the numbers of the step have shape {}, expected [2]: learning rate and step", op,
                      numbers.shape);
}

/// The numbers of a step as an operand of tests.
inline TestInput numbers_of_step(TestFill fill, bool defined = true) {
  TestInput numbers{{2}, fill};
  numbers.dtype = {DType::f64};
  numbers.defined = defined;
  return numbers;
}

}  // namespace treadle
