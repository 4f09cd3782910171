#include "treadle/optim/optimizer.h"

#include <algorithm>
#include <map>

#include "treadle/core/error.h"
#include "treadle/core/nearest_name.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/recording.h"
#include "treadle/ops/copy.h"
#include "treadle/optim/adam.h"
#include "treadle/optim/sgd.h"

namespace treadle {

namespace {

void check_learning_rate(double value) {
  require<ValueError>(value >= 0, "the learning rate is {}, it cannot be negative", value);
}

/// Zeros in the parameter's layout, so that updates walk over all operands in the order of memory.
Tensor zeros_like(const Tensor& parameter) {
  const Tensor zeros = Tensor::zeros(parameter.shape(), parameter.dtype(), parameter.device());
  return is_dense(parameter.shape(), parameter.strides())
             ? zeros.alias(parameter.shape(), parameter.strides())
             : zeros;
}

}  // namespace

Optimizer::Optimizer(std::vector<NamedTensor> parameters, double learning_rate)
    : parameters_(std::move(parameters)), numbers_(std::make_shared<Numbers>(Numbers{learning_rate})) {
  check_learning_rate(learning_rate);
}

void Optimizer::set_learning_rate(double value) {
  check_learning_rate(value);
  numbers_->schedule.reset();
  numbers_->learning_rate = value;
}

void Optimizer::Numbers::begin_step() {
  if (schedule) learning_rate = schedule->at(step_count);
  ++step_count;
}

void Optimizer::add_slot(const std::string& name) {
  Slot slot{name, {}};
  for (auto& [key, parameter] : parameters_) slot.tensors.push_back(zeros_like(parameter));
  slots_.push_back(std::move(slot));
}

std::vector<Optimizer::Batch> Optimizer::batches() const {
  std::vector<Batch> all;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& parameter = parameters_[i].tensor;
    Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    auto batch = std::find_if(all.begin(), all.end(), [&](const Batch& b) {
      return b.device == parameter.device() && b.dtype == parameter.dtype();
    });
    if (batch == all.end()) batch = all.insert(all.end(), {parameter.device(), parameter.dtype(), {}});
    batch->groups.insert(batch->groups.end(), {parameter, gradient});
    for (const Slot& slot : slots_) batch->groups.push_back(slot.tensors[i]);
  }
  return all;
}

void Optimizer::step() {
  NoGrad no_grad;
  if (Recording* current = recording()) return record(*current, batches());
  numbers_->begin_step();
  for (const Batch& batch : batches()) update({}, batch.groups);
}

void Optimizer::record(Recording& recording, const std::vector<Batch>& batches) {
  recording.depends_on(life_, "the optimizer " + name(), {});
  recording.before_replay([numbers = numbers_] { numbers->begin_step(); },
                          [numbers = numbers_] { --numbers->step_count; });
  for (const Batch& batch : batches) {
    Tensor numbers = recording.changing_numbers(2, batch.device, [numbers = numbers_](double* values) {
      values[0] = numbers->learning_rate;
      values[1] = double(numbers->step_count);
    });
    update(numbers, batch.groups);
  }
}

void Optimizer::zero_grad() {
  for (auto& [name, parameter] : parameters_) parameter.set_grad({});
}

std::vector<NamedTensor> Optimizer::state() const {
  std::vector<NamedTensor> result{{"step", Tensor::from(std::vector<int64_t>{numbers_->step_count}, {1})}};
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
  numbers_->step_count = by_name["step"].data<int64_t>()[0];
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
  throw ValueError(unknown_name("no optimizer is called", name, known_optimizers()));
}

}  // namespace treadle
