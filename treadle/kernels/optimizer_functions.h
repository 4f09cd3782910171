/// One element's update for each optimiser, with the factors that are the same for all elements computed
/// before.
#pragma once

#include "treadle/kernels/math.h"

namespace treadle {

/// p ← p - rate·g', g' = g + weight_decay·p. Computed in C.
template <class C>
struct SgdStep {
  C rate, weight_decay;

  TREADLE_DEVICE void operator()(C& p, C g) const { p -= rate * (g + weight_decay * p); }
};

/// b ← momentum·b + keep·g', keep = 1 - dampening (b ← g' at the first step); p ← p - rate·b, or with
/// Nesterov's correction p - rate·(g' + momentum·b). Sutskever et al., On the importance of initialization
/// and momentum, 2013.
template <class C>
struct SgdMomentumStep {
  C rate, weight_decay, momentum, keep;
  bool nesterov, first;

  TREADLE_DEVICE void operator()(C& p, C g, C& b) const {
    g = g + weight_decay * p;
    b = first ? g : momentum * b + keep * g;
    p -= rate * (nesterov ? g + momentum * b : b);
  }
};

/// m ← m + (1 - β1)(g' - m), v ← β2·v + (1 - β2)·g'², p ← p·shrink - rate·m / (√v + ε). Kingma and Ba, Adam,
/// 2015, end of section 2: the corrections of the bias are in rate and ε, which saves a division. There g' =
/// g + weight_decay·p; Loshchilov and Hutter, Decoupled Weight Decay Regularization, 2019, with shrink = 1 -
/// learning rate·weight_decay.
template <class C>
struct AdamStep {
  C rate, epsilon, weight_decay, shrink, one_minus_beta1, beta2, one_minus_beta2;

  TREADLE_DEVICE void operator()(C& p, C g, C& m, C& v) const {
    g = g + weight_decay * p;
    m = m + one_minus_beta1 * (g - m);
    v = beta2 * v + one_minus_beta2 * g * g;
    p = shrink * p - rate * m / (math::sqrt(v) + epsilon);
  }
};

}  // namespace treadle
