#include "treadle/optim/adam.h"

#include "treadle/ops/optimizer_update.h"

namespace treadle {

Adam::Adam(std::vector<NamedTensor> parameters, double learning_rate, const AdamOptions& options)
    : Optimizer(std::move(parameters), learning_rate), options_(options) {
  add_slot("first_moment");
  add_slot("second_moment");
}

void Adam::update(size_t index, const Tensor& parameter, const Tensor& gradient) {
  AdamUpdateOptions options;
  options.learning_rate = learning_rate();
  options.beta1 = options_.beta1;
  options.beta2 = options_.beta2;
  options.epsilon = options_.epsilon;
  options.weight_decay = options_.weight_decay;
  options.decoupled = options_.decoupled;
  options.step = step_count();
  adam_update(parameter, gradient, slot(index, 0), slot(index, 1), options);
}

}  // namespace treadle
