#include "treadle/optim/sgd.h"

#include <cmath>

#include "treadle/core/error.h"
#include "treadle/ops/update/optimizer_update.h"

namespace treadle {

Sgd::Sgd(std::vector<NamedTensor> parameters, double learning_rate, const SgdOptions& options)
    : Optimizer(std::move(parameters), learning_rate), options_(options) {
  for (double value : {options.momentum, options.weight_decay})
    require<ValueError>(value >= 0 && std::isfinite(value),
                        "Sgd: momentum and weight decay are {} and {}; they must be finite and not negative",
                        options.momentum, options.weight_decay);
  require<ValueError>(std::isfinite(options.dampening), "Sgd: dampening is {}, not finite",
                      options.dampening);
  require<ValueError>(!options.nesterov || (options.momentum > 0 && options.dampening == 0),
                      "Sgd: nesterov needs momentum > 0 and dampening 0; they are {} and {}",
                      options.momentum, options.dampening);
  if (options.momentum != 0) add_slot("momentum");
}

void Sgd::update(const Tensor& numbers, int64_t step, const std::vector<Tensor>& groups) {
  SgdUpdateOptions options;
  options.momentum = options_.momentum;
  options.dampening = options_.dampening;
  options.weight_decay = options_.weight_decay;
  options.nesterov = options_.nesterov;
  if (!numbers.defined()) {
    options.learning_rate = learning_rate();
    options.first_step = step == 1;
  }
  if (options_.momentum != 0)
    sgd_momentum_update_all(numbers, groups, options);
  else
    sgd_update_all(numbers, groups, options);
}

}  // namespace treadle
