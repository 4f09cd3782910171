#include "treadle/optim/adam.h"

#include "treadle/ops/optimizer_update.h"

namespace treadle {

Adam::Adam(std::vector<NamedTensor> parameters, double learning_rate, const AdamOptions& options)
    : Optimizer(std::move(parameters), learning_rate), options_(options) {
  add_slot("first_moment");
  add_slot("second_moment");
}

void Adam::update(const Tensor& numbers, const std::vector<Tensor>& groups) {
  AdamUpdateOptions options;
  options.beta1 = options_.beta1;
  options.beta2 = options_.beta2;
  options.epsilon = options_.epsilon;
  options.weight_decay = options_.weight_decay;
  options.decoupled = options_.decoupled;
  if (!numbers.defined()) {
    options.learning_rate = learning_rate();
    options.step = step_count();
  }
  adam_update_all(numbers, groups, options);
}

}  // namespace treadle
