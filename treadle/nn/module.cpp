#include "treadle/nn/module.h"

#include <algorithm>
#include <map>
#include <utility>

#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/recording.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"

namespace treadle {
namespace {

thread_local const ModuleObserver* current_observer = nullptr;

/// Without tensors that came before under another name.
std::vector<NamedTensor> each_once(const std::vector<NamedTensor>& tensors) {
  std::vector<NamedTensor> result;
  for (const NamedTensor& one : tensors)
    if (std::none_of(result.begin(), result.end(),
                     [&](const NamedTensor& earlier) { return earlier.tensor.same_as(one.tensor); }))
      result.push_back(one);
  return result;
}

}  // namespace

ObserveModules::ObserveModules(ModuleObserver observer)
    : observer_(std::move(observer)), before_(current_observer) {
  current_observer = &observer_;
}
ObserveModules::~ObserveModules() { current_observer = before_; }

Tensor Module::operator()(const Tensor& x) {
  if (Recording* current = recording()) note_mode(*current);
  if (!current_observer) return forward(x);
  (*current_observer)(*this, {&x, 1}, {});
  Tensor y = forward(x);
  (*current_observer)(*this, {&x, 1}, {&y, 1});
  return y;
}

std::vector<Tensor> Module::call(std::span<const Tensor> inputs) {
  if (Recording* current = recording()) note_mode(*current);
  if (!current_observer) return forward_all(inputs);
  (*current_observer)(*this, inputs, {});
  std::vector<Tensor> outputs = forward_all(inputs);
  (*current_observer)(*this, inputs, outputs);
  return outputs;
}

Tensor Module::only_one(const std::vector<Tensor>& outputs) const {
  require<ValueError>(outputs.size() == 1, "{} gives {} tensors, not one; call() returns them", describe(),
                      outputs.size());
  return outputs[0];
}

namespace {

/// The module whose forward() is forward_all(): whose forward_all() is not forward().
thread_local const Module* forwards_all = nullptr;

}  // namespace

Tensor Module::forward(const Tensor& x) {
  const Module* before = std::exchange(forwards_all, this);
  std::unique_ptr<const Module*, void (*)(const Module**)> restore(
      &before, [](const Module** value) { forwards_all = *value; });
  return only_one(forward_all({&x, 1}));
}

std::vector<Tensor> Module::forward_all(std::span<const Tensor> inputs) {
  require<Error>(forwards_all != this, "{} defines neither forward() nor forward_all()", describe());
  require<ValueError>(inputs.size() == 1, "{} takes one tensor, not {}", describe(), inputs.size());
  return {forward(inputs[0])};
}

int64_t Module::multiply_adds(std::span<const Shape>, std::span<const Shape>) const { return 0; }

void Module::check_name(const std::string& name) const {
  auto is_taken = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](const NamedTensor& one) { return one.name == name; });
  };
  require<ValueError>(!name.empty() && name.find('.') == std::string::npos,
                      "'{}' is no name for a part of a module: it is empty or has a dot", name);
  const bool taken =
      is_taken(parameters_) || is_taken(buffers_) ||
      std::any_of(children_.begin(), children_.end(), [&](const auto& child) { return child.first == name; });
  require<ValueError>(!taken, "two parts of a module are called '{}'", name);
}

bool Module::contains(const Module* module) const {
  return this == module || std::any_of(children_.begin(), children_.end(),
                                       [&](const auto& child) { return child.second->contains(module); });
}

void Module::check_child(const std::string& name, const Module* module) const {
  check_name(name);
  require<ValueError>(module != nullptr, "the module to register as '{}' is null", name);
  require<ValueError>(!module->contains(this),
                      "the module to register as '{}' has the one it is registered with among its children",
                      name);
}

Tensor Module::register_parameter(std::string name, Tensor value) {
  check_name(name);
  require<ValueError>(value.defined(), "the parameter '{}' is undefined", name);
  value.set_requires_grad();
  parameters_.push_back({std::move(name), value});
  return value;
}

Tensor Module::register_buffer(std::string name, Tensor value) {
  check_name(name);
  require<ValueError>(value.defined(), "the buffer '{}' is undefined", name);
  buffers_.push_back({std::move(name), value});
  return value;
}

namespace {

const std::string& name_in(const NamedTensor& part) { return part.name; }
const std::string& name_in(const std::pair<std::string, std::shared_ptr<Module>>& part) { return part.first; }

/// The place of what has the name; the end where nothing has.
template <class List>
auto place_of(List& list, const std::string& name) {
  return std::find_if(list.begin(), list.end(), [&](const auto& part) { return name_in(part) == name; });
}

/// Takes out what has the name, adds something else at the end, and moves that to the same place. As it was
/// where adding throws.
template <class List, class Add>
void replace_in(List& list, const std::string& name, Add add) {
  auto found = place_of(list, name);
  if (found == list.end()) return add();
  const auto place = found - list.begin();
  auto before = std::move(*found);
  list.erase(found);
  try {
    add();
  } catch (...) {
    list.insert(list.begin() + place, std::move(before));
    throw;
  }
  std::rotate(list.begin() + place, list.end() - 1, list.end());
}

}  // namespace

void Module::replace_parameter(const std::string& name, const Tensor& value) {
  replace_in(parameters_, name, [&] { register_parameter(name, value); });
}

void Module::replace_buffer(const std::string& name, const Tensor& value) {
  replace_in(buffers_, name, [&] { register_buffer(name, value); });
}

void Module::replace_module(const std::string& name, std::shared_ptr<Module> module) {
  replace_in(children_, name, [&] { register_module(name, std::move(module)); });
}

bool Module::remove(const std::string& name) {
  auto remove_from = [&](auto& list) {
    auto found = place_of(list, name);
    if (found == list.end()) return false;
    list.erase(found);
    return true;
  };
  return remove_from(parameters_) || remove_from(buffers_) || remove_from(children_);
}

void Module::collect(const std::string& prefix, bool parameters, std::vector<NamedTensor>& result) const {
  for (auto& [name, tensor] : parameters ? parameters_ : buffers_) result.push_back({prefix + name, tensor});
  for (auto& [name, child] : children_) child->collect(prefix + name + ".", parameters, result);
}

std::vector<NamedTensor> Module::named_parameters() const {
  std::vector<NamedTensor> result;
  collect("", true, result);
  return each_once(result);
}

std::vector<NamedTensor> Module::named_buffers() const {
  std::vector<NamedTensor> result;
  collect("", false, result);
  return each_once(result);
}

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> result;
  for (auto& [name, tensor] : named_parameters()) result.push_back(tensor);
  return result;
}

std::vector<NamedTensor> Module::state_dict() const {
  std::vector<NamedTensor> result;
  collect("", true, result);
  collect("", false, result);
  return result;
}

namespace {

using TensorsByName = std::map<std::string, Tensor>;

void check_fit(const NamedTensor& target, const Tensor& value) {
  require<ValueError>(value.defined(), "'{}' in the state to load is undefined", target.name);
  require<DTypeError>(value.dtype() == target.tensor.dtype(), "'{}' is {}, the model expects {}", target.name,
                      name_of(value.dtype()), name_of(target.tensor.dtype()));
  require<ShapeError>(value.shape() == target.tensor.shape(), "'{}' has shape {}, the model expects {}",
                      target.name, value.shape(), target.tensor.shape());
}

bool same_elements(const Tensor& a, const Tensor& b) {
  auto equal = [](double x, double y) { return x == y || (x != x && y != y); };
  const auto one = a.to_doubles(), other = b.to_doubles();
  return a.same_as(b) || std::equal(one.begin(), one.end(), other.begin(), equal);
}

/// The value for a tensor that the model knows under all of `names`.
Tensor value_of(const std::vector<NamedTensor>& names, const TensorsByName& by_name) {
  const NamedTensor* first = nullptr;
  for (const NamedTensor& target : names) {
    auto found = by_name.find(target.name);
    if (found == by_name.end()) continue;
    check_fit(target, found->second);
    require<ValueError>(!first || same_elements(by_name.at(first->name), found->second),
                        "'{}' and '{}' are one tensor of the model, and differ in the state to load",
                        first ? first->name : "", target.name);
    if (!first) first = &target;
  }
  require<ValueError>(first != nullptr, "the state to load has no '{}'", names[0].name);
  return by_name.at(first->name);
}

void require_known(const std::vector<NamedTensor>& targets, TensorsByName by_name) {
  for (auto& [name, target] : targets) by_name.erase(name);
  require<ValueError>(by_name.empty(), "the state to load has '{}', which the model does not know",
                      by_name.empty() ? "" : by_name.begin()->first);
}

/// A tensor of the model and what it is to hold.
struct Load {
  Tensor target, value;
};

/// Each tensor of the model with its value: all there, none left over, shapes equal.
std::vector<Load> matched(const std::vector<NamedTensor>& targets, const std::vector<NamedTensor>& values) {
  TensorsByName by_name;
  for (auto& [name, tensor] : values)
    require<ValueError>(by_name.emplace(name, tensor).second, "the state to load has '{}' twice", name);
  std::vector<Load> loads;
  for (const NamedTensor& target : each_once(targets)) {
    std::vector<NamedTensor> names;
    for (const NamedTensor& one : targets)
      if (one.tensor.same_as(target.tensor)) names.push_back(one);
    loads.push_back({target.tensor, value_of(names, by_name)});
  }
  require_known(targets, std::move(by_name));
  return loads;
}

}  // namespace

void Module::load_state_dict(const std::vector<NamedTensor>& values) {
  const auto loads = matched(state_dict(), values);
  NoGrad no_grad;
  for (const Load& load : loads) copy_into(load.target, treadle::to(load.value, load.target.device()));
}

int64_t Module::parameter_count() const {
  int64_t count = 0;
  for (auto& [name, tensor] : named_parameters()) count += tensor.numel();
  return count;
}

bool Module::is_training() const {
  if (Recording* current = recording()) note_mode(*current);
  return training_;
}

/// The program holds for this mode, unless the function has set it.
void Module::note_mode(Recording& recording) const {
  recording.depends_on(life_, "the module " + describe(), [this] { return int64_t(training_); });
}

void Module::train(bool on) {
  if (Recording* current = recording())
    current->sets_state(life_, [this, on] {
      if (training_ != on) training_ = on;
    });
  training_ = on;
  for (auto& [name, child] : children_) child->train(on);
}

namespace {

/// The tensor becomes `value` for all who know it. Its gradient, which would stay what it was, is dropped.
void replace(Tensor tensor, const Tensor& value) {
  const bool requires_grad = tensor.requires_grad();
  tensor.set_grad({});
  if (requires_grad)
    tensor.set_requires_grad(false);  // assign() lets no tensor change its dtype that requires one
  tensor.assign(value);
  if (requires_grad) tensor.set_requires_grad();
}

}  // namespace

void Module::to(Device device) {
  NoGrad no_grad;
  for (auto& [name, tensor] : each_once(state_dict())) replace(tensor, treadle::to(tensor.detach(), device));
}

void Module::to(DType dtype) {
  require<DTypeError>(is_floating(dtype), "a module cannot become {}: parameters are floating-point numbers",
                      name_of(dtype));
  NoGrad no_grad;
  for (auto& [name, tensor] : each_once(state_dict()))
    if (is_floating(tensor.dtype())) replace(tensor, cast(tensor.detach(), dtype));
}

void Module::zero_grad() {
  for (Tensor& parameter : std::vector<Tensor>(parameters())) parameter.set_grad({});
}

}  // namespace treadle
