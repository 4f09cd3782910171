#include "treadle/nn/module.h"

#include <map>

#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/recording.h"
#include "treadle/ops/copy.h"

namespace treadle {
namespace {

thread_local const ModuleObserver* current_observer = nullptr;

}  // namespace

ObserveModules::ObserveModules(ModuleObserver observer)
    : observer_(std::move(observer)), before_(current_observer) {
  current_observer = &observer_;
}
ObserveModules::~ObserveModules() { current_observer = before_; }

Tensor Module::operator()(const Tensor& x) {
  if (Recording* current = recording())
    current->depends_on(life_, "the module " + describe(), [this] { return int64_t(training_); });
  if (!current_observer) return forward(x);
  (*current_observer)(*this, x, {});
  Tensor y = forward(x);
  (*current_observer)(*this, x, y);
  return y;
}

int64_t Module::multiply_adds(const Shape&, const Shape&) const { return 0; }

Tensor Module::register_parameter(std::string name, Tensor value) {
  value.set_requires_grad();
  parameters_.push_back({std::move(name), value});
  return value;
}

Tensor Module::register_buffer(std::string name, Tensor value) {
  buffers_.push_back({std::move(name), value});
  return value;
}

void Module::collect(const std::string& prefix, bool parameters, std::vector<NamedTensor>& result) const {
  for (auto& [name, tensor] : parameters ? parameters_ : buffers_) result.push_back({prefix + name, tensor});
  for (auto& [name, child] : children_) child->collect(prefix + name + ".", parameters, result);
}

std::vector<NamedTensor> Module::named_parameters() const {
  std::vector<NamedTensor> result;
  collect("", true, result);
  return result;
}

std::vector<NamedTensor> Module::named_buffers() const {
  std::vector<NamedTensor> result;
  collect("", false, result);
  return result;
}

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> result;
  for (auto& [name, tensor] : named_parameters()) result.push_back(tensor);
  return result;
}

std::vector<NamedTensor> Module::state_dict() const {
  auto result = named_parameters();
  for (auto& buffer : named_buffers()) result.push_back(std::move(buffer));
  return result;
}

namespace {

/// The values by name, checked against `targets`: all there, none left over, shapes equal.
std::map<std::string, Tensor> matched(const std::vector<NamedTensor>& targets,
                                      const std::vector<NamedTensor>& values) {
  std::map<std::string, Tensor> by_name;
  for (auto& [name, tensor] : values) by_name[name] = tensor;
  for (auto& [name, target] : targets) {
    auto found = by_name.find(name);
    require<ValueError>(found != by_name.end(), "the state to load has no '{}'", name);
    require<DTypeError>(found->second.dtype() == target.dtype(), "'{}' is {}, the model expects {}", name,
                        name_of(found->second.dtype()), name_of(target.dtype()));
    require<ShapeError>(found->second.shape() == target.shape(), "'{}' has shape {}, the model expects {}",
                        name, found->second.shape(), target.shape());
  }
  if (by_name.size() == targets.size()) return by_name;
  for (auto& [name, target] : targets) by_name.erase(name);
  throw ValueError(
      fmt::format("the state to load has '{}', which the model does not know", by_name.begin()->first));
}

}  // namespace

void Module::load_state_dict(const std::vector<NamedTensor>& values) {
  auto targets = state_dict();
  auto by_name = matched(targets, values);
  NoGrad no_grad;
  for (auto& [name, target] : targets) copy_into(target, treadle::to(by_name[name], target.device()));
}

int64_t Module::parameter_count() const {
  int64_t count = 0;
  for (auto& [name, tensor] : named_parameters()) count += tensor.numel();
  return count;
}

void Module::train(bool on) {
  training_ = on;
  for (auto& [name, child] : children_) child->train(on);
}

void Module::to(Device device) {
  NoGrad no_grad;
  for (auto& [name, tensor] : state_dict()) {
    tensor.assign(treadle::to(tensor.detach(), device));
    tensor.set_grad({});  // it would stay on the old device
  }
}

void Module::zero_grad() {
  for (Tensor& parameter : std::vector<Tensor>(parameters())) parameter.set_grad({});
}

}  // namespace treadle
