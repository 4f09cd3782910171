#include "treadle/optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/recording.h"
#include "treadle/ops/layout/copy.h"

namespace treadle {

namespace {

void check_learning_rate(double value) {
  require<ValueError>(value >= 0 && std::isfinite(value),
                      "the learning rate is {}; it must be finite and not negative", value);
}

/// Whether an axis steps over less than the axes of smaller strides reach.
bool shares_elements(const Shape& shape, const Strides& strides) {
  if (shape.numel() == 0 || is_dense(shape, strides)) return false;
  std::vector<std::pair<int64_t, int64_t>> axes;  // stride, extent
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] > 1) axes.emplace_back(strides[i], shape[i]);
  std::sort(axes.begin(), axes.end());
  int64_t reached = 1;
  for (auto& [stride, extent] : axes) {
    if (stride < reached) return true;
    reached += stride * (extent - 1);
  }
  return false;
}

void check_parameter(const NamedTensor& parameter) {
  const auto& [name, tensor] = parameter;
  require<ValueError>(tensor.defined(), "the parameter '{}' of an optimizer is undefined", name);
  require<DTypeError>(is_floating(tensor.dtype()), "the parameter '{}' of an optimizer is {}, not floating",
                      name, name_of(tensor.dtype()));
  require<ValueError>(!tensor.requires_grad() || leaf_state(tensor),
                      "the parameter '{}' of an optimizer is the result of ops; detach() it", name);
  require<ValueError>(!shares_elements(tensor.shape(), tensor.strides()),
                      "elements of the parameter '{}' of an optimizer share memory: its strides are {}", name,
                      tensor.strides());
}

/// Checked, each tensor once.
std::vector<NamedTensor> checked(const std::vector<NamedTensor>& parameters) {
  std::vector<NamedTensor> list;
  for (const NamedTensor& parameter : parameters) {
    check_parameter(parameter);
    bool known = false;
    for (const NamedTensor& earlier : list) {
      known |= earlier.tensor.same_as(parameter.tensor);
      require<ValueError>(earlier.name != parameter.name || known,
                          "two parameters of an optimizer are called '{}'", parameter.name);
    }
    if (!known) list.push_back(parameter);
  }
  return list;
}

/// Zeros in the parameter's layout, so that updates walk over all operands in the order of memory.
Tensor zero_slot(const Tensor& parameter) {
  const Tensor zeros = Tensor::zeros(parameter.shape(), parameter.dtype(), parameter.device());
  return is_dense(parameter.shape(), parameter.strides())
             ? zeros.alias(parameter.shape(), parameter.strides())
             : zeros;
}

}  // namespace

Optimizer::Optimizer(std::vector<NamedTensor> parameters, double learning_rate)
    : parameters_(checked(parameters)), numbers_(std::make_shared<Numbers>(Numbers{learning_rate})) {
  check_learning_rate(learning_rate);
  numbers_->updates.resize(parameters_.size());
}

/// Inside a function that is recorded: part of what each replay does.
void Optimizer::set_learning_rate(double value) {
  check_learning_rate(value);
  auto before = std::make_shared<std::pair<double, std::optional<Schedule>>>();
  auto set = [numbers = numbers_, value, before] {
    *before = {numbers->learning_rate, std::exchange(numbers->schedule, {})};
    numbers->learning_rate = value;
  };
  auto undo = [numbers = numbers_, before] { std::tie(numbers->learning_rate, numbers->schedule) = *before; };
  if (!recording()) return set();
  recording()->before_replay(set, undo, fmt::format("set the learning rate of {} to {}", name(), value));
}

void Optimizer::set_schedule(const Schedule& schedule) {
  require<RecordingError>(!recording(),
                          "set_schedule() is called inside a compiled function, and would not be "
                          "called again by its replays; call it outside");
  numbers_->schedule = schedule;
}

double Optimizer::Numbers::begin_step(const std::vector<size_t>& parameters) {
  const double before = learning_rate;
  if (schedule) learning_rate = schedule->at(step_count);
  ++step_count;
  for (size_t i : parameters) ++updates[i];
  return before;
}

void Optimizer::Numbers::take_back(double learning_rate_before, const std::vector<size_t>& parameters) {
  learning_rate = learning_rate_before;
  --step_count;
  for (size_t i : parameters) --updates[i];
}

/// Equal where the same parameters have been updated equally often.
int64_t Optimizer::Numbers::partition() const {
  uint64_t hash = 0;
  for (size_t i = 0; i < updates.size(); ++i) {
    const auto first = std::find(updates.begin(), updates.end(), updates[i]) - updates.begin();
    hash = (hash ^ uint64_t(first)) * 0x9e3779b97f4a7c15;
  }
  return int64_t(hash);
}

void Optimizer::add_slot(const std::string& name) {
  Slot slot{name, {}};
  for (auto& [key, parameter] : parameters_) slot.tensors.push_back(zero_slot(parameter));
  slots_.push_back(std::move(slot));
}

/// Without slots an update does not depend on its number.
std::vector<Optimizer::Batch> Optimizer::batches(const Counts& updates) const {
  std::vector<Batch> all;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& parameter = parameters_[i].tensor;
    Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    const int64_t count = slots_.empty() ? 0 : updates[i];
    auto batch = std::find_if(all.begin(), all.end(), [&](const Batch& b) {
      return b.device == parameter.device() && b.dtype == parameter.dtype() && b.updates == count;
    });
    if (batch == all.end())
      batch = all.insert(all.end(), {parameter.device(), parameter.dtype(), count, {}, {}});
    batch->parameters.push_back(i);
    batch->groups.insert(batch->groups.end(), {parameter, gradient});
    for (const Slot& slot : slots_) {
      require<DTypeError>(slot.tensors[i].dtype() == parameter.dtype(),
                          "the parameter '{}' has become {}, but its {} is {}: make a new {} for it",
                          parameters_[i].name, name_of(parameter.dtype()), slot.name,
                          name_of(slot.tensors[i].dtype()), name());
      batch->groups.push_back(slot.tensors[i]);
    }
  }
  return all;
}

namespace {

template <class Batches>
std::vector<size_t> parameters_of(const Batches& batches) {
  std::vector<size_t> parameters;
  for (const auto& batch : batches)
    parameters.insert(parameters.end(), batch.parameters.begin(), batch.parameters.end());
  return parameters;
}

}  // namespace

void Optimizer::step() {
  NoGrad no_grad;
  if (Recording* current = recording()) return record(*current);
  step_eagerly();
}

void Optimizer::step_eagerly() {
  const auto all = batches(numbers_->updates);
  const auto parameters = parameters_of(all);
  const auto before = numbers_->begin_step(parameters);
  size_t done = 0;
  try {
    for (; done < all.size(); ++done) update({}, all[done].updates + 1, all[done].groups);
  } catch (...) {
    if (done == 0) numbers_->take_back(before, parameters);
    throw;
  }
}

Optimizer::Counts& Optimizer::counts_in(const Recording& recording) {
  if (recording_ != recording.number()) recorded_updates_ = numbers_->updates;
  recording_ = recording.number();
  return recorded_updates_;
}

/// Parameters that have been updated equally often share a number; another program serves calls that find
/// them apart.
void Optimizer::record(Recording& recording) {
  Counts& counts = counts_in(recording);
  const auto all = batches(counts);
  const auto parameters = parameters_of(all);
  for (size_t i : parameters) ++counts[i];
  std::function<int64_t()> partition = [numbers = numbers_] { return numbers->partition(); };
  recording.depends_on(life_, "the optimizer " + name(), slots_.empty() ? nullptr : std::move(partition));
  auto before = std::make_shared<double>();
  recording.before_replay(
      [numbers = numbers_, before, parameters] { *before = numbers->begin_step(parameters); },
      [numbers = numbers_, before, parameters] { numbers->take_back(*before, parameters); },
      fmt::format("a step of {} for {} parameters", name(), parameters.size()));
  record_batches(recording, all);
}

void Optimizer::record_batches(Recording& recording, const std::vector<Batch>& batches) {
  for (const Batch& batch : batches) {
    const size_t first = batch.parameters[0];
    Tensor numbers = recording.changing_numbers(2, batch.device, [numbers = numbers_, first](double* values) {
      values[0] = numbers->learning_rate;
      values[1] = double(numbers->updates[first]);
    });
    update(numbers, 0, batch.groups);
  }
}

void Optimizer::zero_grad() {
  for (auto& [name, parameter] : parameters_) parameter.set_grad({});
}

namespace {

Tensor count_tensor(int64_t count) { return Tensor::from(std::vector<int64_t>{count}, {1}); }

void check_fit(const std::string& name, const Tensor& value, const Tensor& target) {
  require<ValueError>(value.defined(), "the optimizer's state has no '{}'", name);
  require<ShapeError>(value.shape() == target.shape(), "the optimizer's '{}' has shape {}, expected {}", name,
                      value.shape(), target.shape());
  require<DTypeError>(value.dtype() == target.dtype(), "the optimizer's '{}' is {}, expected {}", name,
                      name_of(value.dtype()), name_of(target.dtype()));
}

/// The tensor of that name; undefined where there is none.
Tensor named(const std::vector<NamedTensor>& list, const std::string& name) {
  auto found =
      std::find_if(list.begin(), list.end(), [&](const NamedTensor& one) { return one.name == name; });
  return found == list.end() ? Tensor() : found->tensor;
}

int64_t count_of(const std::string& name, const Tensor& value) {
  check_fit(name, value, count_tensor(0));
  const auto count = int64_t(value.to_doubles()[0]);
  require<ValueError>(count >= 0, "the optimizer's '{}' is {}, which no count is", name, count);
  return count;
}

}  // namespace

std::vector<NamedTensor> Optimizer::state() const {
  std::vector<NamedTensor> result{{"step", count_tensor(numbers_->step_count)}};
  for (const Slot& slot : slots_)
    for (size_t i = 0; i < parameters_.size(); ++i)
      result.push_back({parameters_[i].name + "." + slot.name, slot.tensors[i]});
  for (size_t i = 0; i < parameters_.size() && !slots_.empty(); ++i)
    if (numbers_->updates[i] != numbers_->step_count)
      result.push_back({parameters_[i].name + ".step", count_tensor(numbers_->updates[i])});
  return result;
}

void Optimizer::load_state(const std::vector<NamedTensor>& values) {
  require<RecordingError>(!recording(),
                          "load_state() is called inside a compiled function, and would not be "
                          "called again by its replays; call it outside");
  const int64_t steps = count_of("step", named(values, "step"));
  Counts updates(parameters_.size(), steps);
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (Tensor value = named(values, parameters_[i].name + ".step"); value.defined())
      updates[i] = count_of(parameters_[i].name + ".step", value);
  std::vector<std::pair<Tensor, Tensor>> copies;
  for (const Slot& slot : slots_)
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const std::string name = parameters_[i].name + "." + slot.name;
      copies.emplace_back(slot.tensors[i], named(values, name));
      check_fit(name, copies.back().second, copies.back().first);
    }
  NoGrad no_grad;
  for (auto& [target, value] : copies) copy_into(target, to(value, target.device()));
  numbers_->step_count = steps, numbers_->updates = std::move(updates);
}

}  // namespace treadle
