/// Options of the optimiser updates, and the factors their kernels need.
#pragma once

#include <cmath>
#include <cstdint>

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

template <class C>
SgdStep<C> sgd_step(const SgdUpdateOptions& o) {
  return {C(o.learning_rate), C(o.weight_decay)};
}

template <class C>
SgdMomentumStep<C> sgd_momentum_step(const SgdUpdateOptions& o) {
  return {C(o.learning_rate), C(o.weight_decay), C(o.momentum), C(1 - o.dampening), o.nesterov, o.first_step};
}

template <class C>
AdamStep<C> adam_step(const AdamUpdateOptions& o) {
  const double correction1 = 1 - std::pow(o.beta1, double(o.step)),
               correction2 = 1 - std::pow(o.beta2, double(o.step));
  return {C(o.learning_rate / correction1),
          C(std::sqrt(correction2)),
          C(o.epsilon),
          C(o.decoupled ? 0 : o.weight_decay),
          C(o.decoupled ? 1 - o.learning_rate * o.weight_decay : 1),
          C(1 - o.beta1),
          C(o.beta2),
          C(1 - o.beta2)};
}

}  // namespace treadle
