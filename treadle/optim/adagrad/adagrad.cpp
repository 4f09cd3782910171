#include "treadle/optim/adagrad/adagrad.h"

#include <cmath>

#include "treadle/optim/declare_rule.h"

namespace treadle {
namespace {

void check(const AdagradOptions& o) {
  for (double value : {o.learning_rate_decay, o.epsilon, o.weight_decay, o.initial_accumulator})
    require<ValueError>(
        value >= 0 && std::isfinite(value),
        "Adagrad: learning rate decay, epsilon, weight decay and initial accumulator are {}, {}, "
        "{} and {}; they must be finite and not negative",
        o.learning_rate_decay, o.epsilon, o.weight_decay, o.initial_accumulator);
}

void reference(const AdagradOptions& o, StepNumbers n, double& p, double gradient, KeptElement& kept) {
  const double g = gradient + o.weight_decay * p;
  double& sum = kept["square_sum"];
  if (n.step == 1) sum = o.initial_accumulator;
  sum += g * g;
  const double rate = n.learning_rate / (1 + o.learning_rate_decay * (n.step - 1));
  p -= rate * g / (std::sqrt(sum) + o.epsilon);
}

}  // namespace

namespace rules {

void register_adagrad() {
  declare_rules<AdagradOptions>(
      adagrad::Forms(),
      {.name = "Adagrad",
       .check = check,
       .presets = {{"adagrad", {}, {.name = "Adagrad", .learning_rate = 1e-2}}},
       .examples = {{"plain"},
                    {"decay", {.learning_rate_decay = 0.25, .epsilon = 0.01, .weight_decay = 0.25}},
                    {"initial", {.epsilon = 1e-3, .weight_decay = 0.01, .initial_accumulator = 0.5}}},
       .reference = reference,
       .fills = {{"square_sum", {TestFill::apart, 0.3, 2}}}});  // of squares
}

}  // namespace rules
}  // namespace treadle
