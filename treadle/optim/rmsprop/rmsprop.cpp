#include "treadle/optim/rmsprop/rmsprop.h"

#include <algorithm>
#include <cmath>

#include "treadle/optim/declare_rule.h"

namespace treadle {
namespace {

void check(const RmsPropOptions& o) {
  require<ValueError>(o.alpha >= 0 && o.alpha < 1, "RmsProp: alpha is {}, not within [0, 1)", o.alpha);
  for (double value : {o.epsilon, o.weight_decay, o.momentum})
    require<ValueError>(
        value >= 0 && std::isfinite(value),
        "RmsProp: epsilon, weight decay and momentum are {}, {} and {}; they must be finite and not negative",
        o.epsilon, o.weight_decay, o.momentum);
}

void reference(const RmsPropOptions& o, StepNumbers n, double& p, double gradient, KeptElement& kept) {
  const double g = gradient + o.weight_decay * p;
  double& square = kept["square_average"];
  square = o.alpha * square + (1 - o.alpha) * g * g;
  double spread = square;
  if (o.centered) {
    double& mean = kept["gradient_average"];
    mean = o.alpha * mean + (1 - o.alpha) * g;
    spread = std::max(square - mean * mean, 0.0);
  }
  double direction = g / (std::sqrt(spread) + o.epsilon);
  if (o.momentum > 0) direction = kept["momentum"] = o.momentum * kept["momentum"] + direction;
  p -= n.learning_rate * direction;
}

}  // namespace

namespace rules {

void register_rmsprop() {
  declare_rules<RmsPropOptions>(
      rmsprop::Forms(),
      {.name = "RmsProp",
       .check = check,
       .presets = {{"rmsprop", {}, {.name = "RMSprop", .learning_rate = 1e-2}}},
       .examples = {{"plain"},
                    {"decay", {.alpha = 0.7, .epsilon = 0.01, .weight_decay = 0.25}},
                    {"momentum", {.alpha = 0.9, .weight_decay = 0.01, .momentum = 0.75}},
                    {"centered", {.alpha = 0.9, .epsilon = 1e-3, .centered = true}},
                    {"both", {.alpha = 0.9, .weight_decay = 0.1, .momentum = 0.5, .centered = true}}},
       .reference = reference,
       // Of squares, and of means whose squares are less.
       .fills = {{"square_average", {TestFill::apart, 0.3, 2}},
                 {"gradient_average", {TestFill::apart, -0.4, 0.4}}}});
}

}  // namespace rules
}  // namespace treadle
