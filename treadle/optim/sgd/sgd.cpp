#include "treadle/optim/sgd/sgd.h"

#include <cmath>

#include "treadle/optim/declare_rule.h"

namespace treadle {
namespace {

void check(const SgdOptions& o) {
  for (double value : {o.momentum, o.weight_decay})
    require<ValueError>(value >= 0 && std::isfinite(value),
                        "Sgd: momentum and weight decay are {} and {}; they must be finite and not negative",
                        o.momentum, o.weight_decay);
  require<ValueError>(std::isfinite(o.dampening), "Sgd: dampening is {}, not finite", o.dampening);
  require<ValueError>(!o.nesterov || (o.momentum > 0 && o.dampening == 0),
                      "Sgd: nesterov needs momentum > 0 and dampening 0; they are {} and {}", o.momentum,
                      o.dampening);
}

void reference(const SgdOptions& o, StepNumbers n, double& p, double gradient, KeptElement& kept) {
  const double g = gradient + o.weight_decay * p;
  double direction = g;
  if (o.momentum != 0) {
    double& b = kept["momentum"];
    b = n.step == 1 ? g : o.momentum * b + (1 - o.dampening) * g;
    direction = o.nesterov ? g + o.momentum * b : b;
  }
  p -= n.learning_rate * direction;
}

}  // namespace

namespace rules {

void register_sgd() {
  declare_rules<SgdOptions>(
      sgd::Forms(), {.name = "Sgd",
                     .check = check,
                     .presets = {{"sgd", {}, {.name = "SGD"}}, {"momentum", {.momentum = 0.9}}},
                     .examples = {{"plain"},
                                  {"decay", {.weight_decay = 0.01}},
                                  {"momentum", {.momentum = 0.9}},
                                  {"nesterov", {.momentum = 0.75, .weight_decay = 0.25, .nesterov = true}},
                                  {"dampening", {.momentum = 0.9, .dampening = 0.5, .weight_decay = 0.01}}},
                     .reference = reference});
}

}  // namespace rules
}  // namespace treadle
