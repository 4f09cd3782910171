/// Options of the optimiser updates, and what their variants share: the operands and factors of each rule.
#pragma once

#include <cstdint>

#include "treadle/kernels/math.h"
#include "treadle/kernels/optimizer_functions.h"

namespace treadle {

struct SgdUpdateOptions {
  double learning_rate = 1e-3, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false;
  bool first_step = false;  ///< the buffer's content is not read
  template <class Field>
  static void describe(Field& field) {
    field("learning_rate", &SgdUpdateOptions::learning_rate, "step along the negative gradient");
    field("momentum", &SgdUpdateOptions::momentum, "share of the buffer that stays");
    field("dampening", &SgdUpdateOptions::dampening,
          "1 minus the share of the gradient that enters the buffer");
    field("weight_decay", &SgdUpdateOptions::weight_decay, "share of the parameter added to the gradient");
    field("nesterov", &SgdUpdateOptions::nesterov, "look ahead by one step");
    field("first_step", &SgdUpdateOptions::first_step, "the buffer becomes the gradient");
  }
};

struct AdamUpdateOptions {
  double learning_rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
  bool decoupled = false;
  int64_t step = 1;
  template <class Field>
  static void describe(Field& field) {
    field("learning_rate", &AdamUpdateOptions::learning_rate, "largest step, about");
    field("beta1", &AdamUpdateOptions::beta1, "share of the first moment that stays");
    field("beta2", &AdamUpdateOptions::beta2, "share of the second moment that stays");
    field("epsilon", &AdamUpdateOptions::epsilon, "added to the root of the second moment");
    field("weight_decay", &AdamUpdateOptions::weight_decay,
          "share of the parameter in each gradient or step");
    field("decoupled", &AdamUpdateOptions::decoupled, "AdamW: decay beside the gradient, not through it");
    field("step", &AdamUpdateOptions::step, "number of this step, from 1");
  }
};

/// What changes from step to step. As an operand of an update: a f64 tensor [2] on the update's device.
struct StepNumbers {
  double learning_rate;
  double step;  ///< from 1
};

inline StepNumbers step_numbers(const SgdUpdateOptions& o) {
  return {o.learning_rate, o.first_step ? 1. : 2.};
}
inline StepNumbers step_numbers(const AdamUpdateOptions& o) { return {o.learning_rate, double(o.step)}; }

// A rule: the names of its two ops, their options, how many tensors belong to a parameter (itself, its
// gradient, what the optimiser keeps), how many operations the step takes for each of its elements, and the
// step with its factors, which are computed in double.

struct SgdRule {
  static constexpr const char *kName = "sgd_update", *kNameOfAll = "sgd_update_all";
  using Options = SgdUpdateOptions;
  static constexpr int kOperands = 2;
  static constexpr int kOperations = 4;

  template <class C>
  TREADLE_DEVICE static SgdStep<C> step(const Options& o, StepNumbers n) {
    return {C(n.learning_rate), C(o.weight_decay)};
  }
};

struct SgdMomentumRule {
  static constexpr const char *kName = "sgd_momentum_update", *kNameOfAll = "sgd_momentum_update_all";
  using Options = SgdUpdateOptions;
  static constexpr int kOperands = 3;
  static constexpr int kOperations = 6;

  template <class C>
  TREADLE_DEVICE static SgdMomentumStep<C> step(const Options& o, StepNumbers n) {
    return {C(n.learning_rate), C(o.weight_decay), C(o.momentum),
            C(1 - o.dampening), o.nesterov,        n.step == 1};
  }
};

struct AdamRule {
  static constexpr const char *kName = "adam_update", *kNameOfAll = "adam_update_all";
  using Options = AdamUpdateOptions;
  static constexpr int kOperands = 4;
  static constexpr int kOperations = 12;

  template <class C>
  TREADLE_DEVICE static AdamStep<C> step(const Options& o, StepNumbers n) {
    const double mean_correction = 1 - math::pow(o.beta1, n.step);
    const double root_correction = math::sqrt(1 - math::pow(o.beta2, n.step));
    return {C(n.learning_rate * root_correction / mean_correction),
            C(o.epsilon * root_correction),
            C(o.decoupled ? 0 : o.weight_decay),
            C(o.decoupled ? 1 - n.learning_rate * o.weight_decay : 1),
            C(1 - o.beta1),
            C(o.beta2),
            C(1 - o.beta2)};
  }
};

/// A rule's step, computed in C.
template <class Rule, class C>
using StepOf = decltype(Rule::template step<C>({}, {}));

}  // namespace treadle
