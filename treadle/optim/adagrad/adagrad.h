/// Adagrad.
#pragma once  // public

#include "treadle/optim/rule.h"

namespace treadle {

/// PyTorch's meaning of each.
struct AdagradOptions {
  double learning_rate_decay = 0, epsilon = 1e-10, weight_decay = 0, initial_accumulator = 0;

  template <class Field>
  static void describe(Field& field) {
    field("learning_rate_decay", &AdagradOptions::learning_rate_decay,
          "growth with each step of what divides the rate");
    field("epsilon", &AdagradOptions::epsilon, "added to the root of the sum");
    field("weight_decay", &AdagradOptions::weight_decay, "share of the parameter added to the gradient");
    field("initial_accumulator", &AdagradOptions::initial_accumulator, "what the sum of squares starts from");
  }
};

/// g ← g + weight_decay·p; s ← s + g², s = initial_accumulator at first; p ← p − lr'·g / (√s + ε), with lr' =
/// lr / (1 + (step − 1)·learning_rate_decay). Duchi, Hazan and Singer, Adaptive Subgradient Methods for
/// Online Learning and Stochastic Optimization, 2011; the decay of the rate is PyTorch's. Throws ValueError
/// for an option that is negative or not finite.
using Adagrad = OptimizerWith<AdagradOptions>;

struct AdagradRule {
  static constexpr const char* kName = "adagrad_update";
  static constexpr const char* kSummary = "s the sum of g², p -= rate·g / (√s + ε)";
  using Options = AdagradOptions;
  static constexpr std::array<const char*, 1> kSlots{"square_sum"};
  static constexpr int kOperations = 8;

  /// What is kept is zeros at first: `initial` takes their place.
  template <class C>
  struct Step {
    C rate, epsilon, weight_decay, initial;
    bool first;

    TREADLE_DEVICE void operator()(C& p, C g, C& s) const {
      g = g + weight_decay * p;
      s = (first ? initial : s) + g * g;
      p -= rate * g / (math::sqrt(s) + epsilon);
    }
  };

  template <class C>
  TREADLE_DEVICE static Step<C> step(const Options& o, StepNumbers n) {
    const double rate = n.learning_rate / (1 + (n.step - 1) * o.learning_rate_decay);
    return {C(rate), C(o.epsilon), C(o.weight_decay), C(o.initial_accumulator), n.step == 1};
  }
};

namespace rules::adagrad {
using Forms = RuleForms<AdagradRule>;
}  // namespace rules::adagrad

}  // namespace treadle
