/// Adam and AdamW.
#pragma once  // public

#include "treadle/optim/rule.h"

namespace treadle {

/// PyTorch's meaning of each; `decoupled` makes it AdamW.
struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
  bool decoupled = false;

  template <class Field>
  static void describe(Field& field) {
    field("beta1", &AdamOptions::beta1, "share of the first moment that stays");
    field("beta2", &AdamOptions::beta2, "share of the second moment that stays");
    field("epsilon", &AdamOptions::epsilon, "added to the root of the second moment");
    field("weight_decay", &AdamOptions::weight_decay, "share of the parameter in each gradient or step");
    field("decoupled", &AdamOptions::decoupled, "AdamW: decay beside the gradient, not through it");
  }
};

/// m ← β1·m + (1 − β1)·g; v ← β2·v + (1 − β2)·g²; p ← p − lr·m̂ / (√v̂ + ε), with m̂ = m / (1 − β1^step) and
/// v̂ = v / (1 − β2^step). Adam: g ← g + weight_decay·p. Kingma and Ba, Adam, 2015. Decoupled: p ← p·(1 −
/// lr·weight_decay). Loshchilov and Hutter, Decoupled Weight Decay Regularization, 2019. Throws ValueError
/// unless 0 <= beta < 1 for both, and for a negative or infinite epsilon or weight decay.
using Adam = OptimizerWith<AdamOptions>;

struct AdamRule {
  static constexpr const char* kName = "adam_update";
  static constexpr const char* kSummary = "moments m and v of the gradient, p -= rate·m̂ / (√v̂ + ε)";
  using Options = AdamOptions;
  static constexpr std::array<const char*, 2> kSlots{"first_moment", "second_moment"};
  static constexpr int kOperations = 12;

  /// m ← m + (1 - β1)(g' - m), v ← β2·v + (1 - β2)·g'², p ← p·shrink - rate·m / (√v + ε): the corrections of
  /// the bias are in rate and ε, which saves a division (Kingma and Ba, end of section 2).
  template <class C>
  struct Step {
    C rate, epsilon, weight_decay, shrink, one_minus_beta1, beta2, one_minus_beta2;

    TREADLE_DEVICE void operator()(C& p, C g, C& m, C& v) const {
      g = g + weight_decay * p;
      m = m + one_minus_beta1 * (g - m);
      v = beta2 * v + one_minus_beta2 * g * g;
      p = shrink * p - rate * m / (math::sqrt(v) + epsilon);
    }
  };

  template <class C>
  TREADLE_DEVICE static Step<C> step(const Options& o, StepNumbers n) {
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

namespace rules::adam {
using Forms = RuleForms<AdamRule>;
}  // namespace rules::adam

}  // namespace treadle
