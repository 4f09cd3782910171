/// RMSprop.
#pragma once  // public

#include "treadle/optim/rule.h"

namespace treadle {

/// PyTorch's meaning of each.
struct RmsPropOptions {
  double alpha = 0.99, epsilon = 1e-8, weight_decay = 0, momentum = 0;
  bool centered = false;

  template <class Field>
  static void describe(Field& field) {
    field("alpha", &RmsPropOptions::alpha, "share of the averages that stays");
    field("epsilon", &RmsPropOptions::epsilon, "added to the root of the average");
    field("weight_decay", &RmsPropOptions::weight_decay, "share of the parameter added to the gradient");
    field("momentum", &RmsPropOptions::momentum, "share of the buffer that stays");
    field("centered", &RmsPropOptions::centered, "divide by the deviation from the mean gradient");
  }
};

/// g ← g + weight_decay·p; v ← α·v + (1 − α)·g²; d = g / (√v + ε); p ← p − lr·d, or with momentum b ←
/// momentum·b + d, p ← p − lr·b. Tieleman and Hinton, Lecture 6.5, 2012. Centered: m ← α·m + (1 − α)·g and
/// √(v − m²) in the place of √v, 0 where rounding makes v less than m². Graves, Generating Sequences With
/// Recurrent Neural Networks, 2013. Throws ValueError unless 0 <= alpha < 1, and for a negative or infinite
/// epsilon, weight decay or momentum.
using RmsProp = OptimizerWith<RmsPropOptions>;

template <bool kCentered, bool kMomentum>
struct RmsPropRule {
  static constexpr const char* kName = kCentered   ? kMomentum ? "rmsprop_centered_momentum_update"  //
                                                               : "rmsprop_centered_update"
                                       : kMomentum ? "rmsprop_momentum_update"
                                                   : "rmsprop_update";
  static constexpr const char* kSummary =
      kMomentum ? "b = momentum·b + g / (√v + ε), v the average of g², p -= rate·b"
                : "v the average of g², p -= rate·g / (√v + ε)";
  using Options = RmsPropOptions;
  static constexpr auto kSlots = [] {
    if constexpr (kCentered && kMomentum)
      return std::array{"square_average", "gradient_average", "momentum"};
    else if constexpr (kCentered)
      return std::array{"square_average", "gradient_average"};
    else if constexpr (kMomentum)
      return std::array{"square_average", "momentum"};
    else
      return std::array{"square_average"};
  }();
  static constexpr int kOperations = 9 + (kCentered ? 5 : 0) + (kMomentum ? 2 : 0);

  static bool fits(const Options& o) { return o.centered == kCentered && (o.momentum != 0) == kMomentum; }

  template <class C>
  struct Step {
    C rate, epsilon, weight_decay, momentum, alpha, one_minus_alpha;

    /// g / (√v + ε)
    TREADLE_DEVICE C scaled(C g, C& v) const {
      v = alpha * v + one_minus_alpha * g * g;
      return g / (math::sqrt(v) + epsilon);
    }
    TREADLE_DEVICE C scaled(C g, C& v, C& m) const {
      v = alpha * v + one_minus_alpha * g * g;
      m = m + one_minus_alpha * (g - m);
      const C variance = v - m * m;
      return g / (math::sqrt(variance < 0 ? C(0) : variance) + epsilon);
    }
    /// What is kept: v, then m and b where the rule has them.
    TREADLE_DEVICE void operator()(C& p, C g, C& v) const { p -= rate * scaled(g + weight_decay * p, v); }
    TREADLE_DEVICE void operator()(C& p, C g, C& v, C& m_or_b) const {
      if constexpr (kCentered) {
        p -= rate * scaled(g + weight_decay * p, v, m_or_b);
      } else {
        m_or_b = momentum * m_or_b + scaled(g + weight_decay * p, v);
        p -= rate * m_or_b;
      }
    }
    TREADLE_DEVICE void operator()(C& p, C g, C& v, C& m, C& b) const {
      b = momentum * b + scaled(g + weight_decay * p, v, m);
      p -= rate * b;
    }
  };

  template <class C>
  TREADLE_DEVICE static Step<C> step(const Options& o, StepNumbers n) {
    return {C(n.learning_rate), C(o.epsilon), C(o.weight_decay), C(o.momentum), C(o.alpha), C(1 - o.alpha)};
  }
};

namespace rules::rmsprop {
using Forms = RuleForms<RmsPropRule<false, false>, RmsPropRule<false, true>, RmsPropRule<true, false>,
                        RmsPropRule<true, true>>;
}  // namespace rules::rmsprop

}  // namespace treadle
