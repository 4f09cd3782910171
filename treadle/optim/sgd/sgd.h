/// Stochastic gradient descent.
#pragma once  // public

#include "treadle/optim/rule.h"

namespace treadle {

/// PyTorch's meaning of each.
struct SgdOptions {
  double momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false;

  template <class Field>
  static void describe(Field& field) {
    field("momentum", &SgdOptions::momentum, "share of the buffer that stays");
    field("dampening", &SgdOptions::dampening, "1 minus the share of the gradient that enters the buffer");
    field("weight_decay", &SgdOptions::weight_decay, "share of the parameter added to the gradient");
    field("nesterov", &SgdOptions::nesterov, "look ahead by one step");
  }
};

/// g ← g + weight_decay·p; m ← momentum·m + (1 − dampening)·g (m ← g at first);
/// p ← p − lr·(nesterov ? g + momentum·m : m). Sutskever et al., On the Importance of Initialization and
/// Momentum, 2013. Throws ValueError for Nesterov without momentum or with dampening, for a negative momentum
/// or weight decay, and for numbers that are not finite.
using Sgd = OptimizerWith<SgdOptions>;

/// Without momentum nothing is kept: m is g.
struct SgdRule {
  static constexpr const char* kName = "sgd_update";
  static constexpr const char* kSummary = "p -= rate·(g + weight_decay·p)";
  using Options = SgdOptions;
  static constexpr std::array<const char*, 0> kSlots{};
  static constexpr int kOperations = 4;

  template <class C>
  using Step = DecayedStep<C>;

  static bool fits(const Options& o) { return o.momentum == 0; }

  template <class C>
  TREADLE_DEVICE static Step<C> step(const Options& o, StepNumbers n) {
    return {C(n.learning_rate), C(o.weight_decay)};
  }
};

struct SgdMomentumRule {
  static constexpr const char* kName = "sgd_momentum_update";
  static constexpr const char* kSummary = "b = momentum·b + (1 - dampening)·g, p -= rate·b";
  using Options = SgdOptions;
  static constexpr std::array<const char*, 1> kSlots{"momentum"};
  static constexpr int kOperations = 6;

  /// `keep` is 1 - dampening.
  template <class C>
  struct Step {
    C rate, weight_decay, momentum, keep;
    bool nesterov, first;

    TREADLE_DEVICE void operator()(C& p, C g, C& b) const {
      g = g + weight_decay * p;
      b = first ? g : momentum * b + keep * g;
      p -= rate * (nesterov ? g + momentum * b : b);
    }
  };

  static bool fits(const Options& o) { return o.momentum != 0; }

  template <class C>
  TREADLE_DEVICE static Step<C> step(const Options& o, StepNumbers n) {
    return {C(n.learning_rate), C(o.weight_decay), C(o.momentum),
            C(1 - o.dampening), o.nesterov,        n.step == 1};
  }
};

namespace rules::sgd {
using Forms = RuleForms<SgdRule, SgdMomentumRule>;
}  // namespace rules::sgd

}  // namespace treadle
