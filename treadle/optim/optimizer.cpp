#include "treadle/optim/optimizer.h"

#include <map>

#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/ops/copy.h"
#include "treadle/optim/adam.h"
#include "treadle/optim/sgd.h"

namespace treadle {

Optimizer::Optimizer(std::vector<NamedTensor> parameters, double learning_rate)
    : parameters_(std::move(parameters)), learning_rate_(learning_rate) {
  require<ValueError>(learning_rate >= 0, "the learning rate is {}, it cannot be negative", learning_rate);
}

void Optimizer::add_slot(const std::string& name) {
  Slot slot{name, {}};
  for (auto& [key, parameter] : parameters_)
    slot.tensors.push_back(Tensor::zeros(parameter.shape(), parameter.dtype(), parameter.device()));
  slots_.push_back(std::move(slot));
}

void Optimizer::step() {
  NoGrad no_grad;
  ++step_count_;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    Tensor gradient = parameters_[i].tensor.grad();
    if (gradient.defined()) update(i, parameters_[i].tensor, gradient);
  }
}

void Optimizer::zero_grad() {
  for (auto& [name, parameter] : parameters_) parameter.set_grad({});
}

std::vector<NamedTensor> Optimizer::state() const {
  std::vector<NamedTensor> result{{"step", Tensor::from(std::vector<int64_t>{step_count_}, {1})}};
  for (const Slot& slot : slots_)
    for (size_t i = 0; i < parameters_.size(); ++i)
      result.push_back({parameters_[i].name + "." + slot.name, slot.tensors[i]});
  return result;
}

void Optimizer::load_state(const std::vector<NamedTensor>& values) {
  std::map<std::string, Tensor> by_name;
  for (auto& [name, tensor] : values) by_name[name] = tensor;
  auto targets = state();
  for (auto& [name, target] : targets) {
    require<ValueError>(by_name.count(name) > 0, "the optimizer's state has no '{}'", name);
    require<ShapeError>(by_name[name].shape() == target.shape(),
                        "the optimizer's '{}' has shape {}, expected {}", name, by_name[name].shape(),
                        target.shape());
  }
  for (auto& [name, target] : targets)
    require<DTypeError>(by_name[name].dtype() == target.dtype(), "the optimizer's '{}' is {}, expected {}",
                        name, name_of(by_name[name].dtype()), name_of(target.dtype()));
  NoGrad no_grad;
  step_count_ = by_name["step"].data<int64_t>()[0];
  for (size_t i = 1; i < targets.size(); ++i)
    copy_into(targets[i].tensor, to(by_name[targets[i].name], targets[i].tensor.device()));
}

std::vector<std::string> known_optimizers() { return {"sgd", "momentum", "adam", "adamw"}; }

std::unique_ptr<Optimizer> make_optimizer(const std::string& name, std::vector<NamedTensor> parameters,
                                          double learning_rate) {
  if (name == "sgd") return std::make_unique<Sgd>(std::move(parameters), learning_rate);
  if (name == "momentum")
    return std::make_unique<Sgd>(std::move(parameters), learning_rate, SgdOptions{.momentum = 0.9});
  if (name == "adam") return std::make_unique<Adam>(std::move(parameters), learning_rate);
  if (name == "adamw")
    return std::make_unique<Adam>(std::move(parameters), learning_rate,
                                  AdamOptions{.weight_decay = 0.01, .decoupled = true});
  throw ValueError(fmt::format("no optimizer is called '{}'; known are sgd momentum adam adamw", name));
}

}  // namespace treadle
