#include "treadle/optim/adam/adam.h"

#include <cmath>

#include "treadle/optim/declare_rule.h"

namespace treadle {
namespace {

void check(const AdamOptions& o) {
  for (double beta : {o.beta1, o.beta2})
    require<ValueError>(beta >= 0 && beta < 1, "Adam: beta1 and beta2 are {} and {}, not within [0, 1)",
                        o.beta1, o.beta2);
  for (double value : {o.epsilon, o.weight_decay})
    require<ValueError>(value >= 0 && std::isfinite(value),
                        "Adam: epsilon and weight decay are {} and {}; they must be finite and not negative",
                        o.epsilon, o.weight_decay);
}

void reference(const AdamOptions& o, StepNumbers n, double& p, double g, KeptElement& kept) {
  double &m = kept["first_moment"], &v = kept["second_moment"];
  if (o.decoupled)
    p *= 1 - n.learning_rate * o.weight_decay;
  else
    g += o.weight_decay * p;
  m = o.beta1 * m + (1 - o.beta1) * g;
  v = o.beta2 * v + (1 - o.beta2) * g * g;
  const double mean = m / (1 - std::pow(o.beta1, n.step)), square = v / (1 - std::pow(o.beta2, n.step));
  p -= n.learning_rate * mean / (std::sqrt(square) + o.epsilon);
}

}  // namespace

namespace rules {

void register_adam() {
  declare_rules<AdamOptions>(
      adam::Forms(),
      {.name = "Adam",
       .check = check,
       .presets = {{"adam", {}, {.name = "Adam"}},
                   {"adamw", {.weight_decay = 0.01, .decoupled = true}, {.name = "AdamW"}}},
       .examples = {{"plain"},
                    {"decay", {.beta1 = 0.7, .beta2 = 0.95, .epsilon = 0.01, .weight_decay = 0.25}},
                    {"decoupled", {.epsilon = 1e-3, .weight_decay = 0.1, .decoupled = true}}},
       .reference = reference,
       .fills = {{"second_moment", {TestFill::apart, 0.3, 2}}}});  // of squares
}

}  // namespace rules
}  // namespace treadle
