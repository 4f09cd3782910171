/// What a rule of optimisers is to ops and optimisers: options, what it keeps for each parameter, and one
/// step for host and device. Light: device files include it.
///
/// A rule is a struct without state that has
///   kName            its op's: "adam_update"; kSummary, the equation in one line
///   Options          what the user chooses, with describe()
///   kSlots           names of what it keeps for each parameter, zeros before the first step
///   kOperations      of the step of one element
///   Step<C>          the factors that all elements share, with operator()(C& p, C g, C&... slots)
///   step<C>(options, numbers)   these factors, computed in double
///   fits(options)    where several rules have the same options: whether this one serves them
#pragma once  // public

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "treadle/kernels/math.h"

namespace treadle {

/// What changes from step to step. As an operand of an update: a f64 tensor [2] on the update's device.
struct StepNumbers {
  double learning_rate = 1e-3;
  double step = 1;  ///< from 1
};

/// Options of an update: the rule's, and the numbers of the step where no tensor holds them.
template <class Options>
struct UpdateOptions : Options {
  double learning_rate = 1e-3;
  int64_t step = 1;

  StepNumbers numbers() const { return {learning_rate, double(step)}; }

  template <class Field>
  static void describe(Field& field) {
    field("learning_rate", &UpdateOptions::learning_rate, "size of the step");
    Options::describe(field);
    field("step", &UpdateOptions::step, "number of this step, from 1");
  }
};

/// Rules with the same options, of which one serves each choice of them.
template <class... Rules>
struct RuleForms {};

/// Tensors that an update has for each parameter: itself, its gradient, what the rule keeps.
template <class Rule>
inline constexpr int kOperandsOf = 2 + int(Rule::kSlots.size());

/// A rule's step, computed in C.
template <class Rule, class C>
using StepOf = typename Rule::template Step<C>;

template <class Rule>
bool fits(const typename Rule::Options& options) {
  if constexpr (requires { Rule::fits(options); })
    return Rule::fits(options);
  else
    return true;
}

/// The op that updates any number of parameters at once.
inline std::string name_of_all(const std::string& rule) { return rule + "_all"; }
template <class Rule>
std::string name_of_all() {
  return name_of_all(Rule::kName);
}

/// The op that makes the gradient of a linear layer's parameters and updates them.
inline std::string name_of_linear_update(const std::string& rule) { return "linear_" + rule; }
template <class Rule>
std::string name_of_linear_update() {
  return name_of_linear_update(Rule::kName);
}

namespace detail {
template <class Step, class C, size_t... K>
TREADLE_DEVICE inline void apply_step(const Step& step, C* value, std::index_sequence<K...>) {
  step(value[K]...);
}
}  // namespace detail

/// Updates one element of each operand: the parameter, its gradient, what the rule keeps.
template <class Step, class C, int N>
TREADLE_DEVICE inline void apply_step(const Step& step, C (&value)[N]) {
  detail::apply_step(step, value, std::make_index_sequence<N>());
}

/// p ← p - rate·(g + weight_decay·p): the step of a rule that keeps nothing, which products of matrices take
/// in registers.
template <class C>
struct DecayedStep {
  C rate, weight_decay;

  TREADLE_DEVICE void operator()(C& p, C g) const { p -= rate * (g + weight_decay * p); }
};

}  // namespace treadle
