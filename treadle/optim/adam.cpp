#include "treadle/optim/adam.h"

#include <cmath>

#include "treadle/core/error.h"
#include "treadle/ops/update/optimizer_update.h"

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

}  // namespace

Adam::Adam(std::vector<NamedTensor> parameters, double learning_rate, const AdamOptions& options)
    : Optimizer(std::move(parameters), learning_rate), options_(options) {
  check(options);
  add_slot("first_moment");
  add_slot("second_moment");
}

void Adam::update(const Tensor& numbers, int64_t step, const std::vector<Tensor>& groups) {
  AdamUpdateOptions options;
  options.beta1 = options_.beta1;
  options.beta2 = options_.beta2;
  options.epsilon = options_.epsilon;
  options.weight_decay = options_.weight_decay;
  options.decoupled = options_.decoupled;
  if (!numbers.defined()) {
    options.learning_rate = learning_rate();
    options.step = step;
  }
  adam_update_all(numbers, groups, options);
}

}  // namespace treadle
