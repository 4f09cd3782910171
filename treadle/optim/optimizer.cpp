#include "treadle/optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "treadle/core/error.h"
#include "treadle/graph/autocast.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/recording.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle {

namespace {

void check_learning_rate(double value) {
  require<ValueError>(value >= 0 && std::isfinite(value),
                      "the learning rate is {}; it must be finite and not negative", value);
}

void check_rate_factor(double value) {
  require<ValueError>(value >= 0 && std::isfinite(value),
                      "a group's factor of the learning rate is {}; it must be finite and not negative",
                      value);
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

/// Zeros in the parameter's layout, so that updates walk over all operands in the order of memory.
Tensor zero_slot(const Tensor& parameter) {
  const Tensor zeros = Tensor::zeros(parameter.shape(), parameter.dtype(), parameter.device());
  return is_dense(parameter.shape(), parameter.strides())
             ? zeros.alias(parameter.shape(), parameter.strides())
             : zeros;
}

}  // namespace

Optimizer::Optimizer(const std::vector<ParameterGroup>& groups, double learning_rate)
    : numbers_(std::make_shared<Numbers>(Numbers{learning_rate})) {
  check_learning_rate(learning_rate);
  for (const ParameterGroup& group : groups) add_group(group);
  numbers_->updates.resize(parameters_.size());
}

void Optimizer::add_group(const ParameterGroup& group) {
  require<ValueError>(group.rule != nullptr, "a group of parameters has no rule");
  check_rate_factor(group.rate_factor);
  rules_.push_back(group.rule);
  numbers_->rate_factors.push_back(group.rate_factor);
  for (const NamedTensor& parameter : group.parameters) add_parameter(parameter);
}

/// Each tensor once.
void Optimizer::add_parameter(const NamedTensor& parameter) {
  check_parameter(parameter);
  for (const Parameter& earlier : parameters_) {
    if (earlier.tensor.same_as(parameter.tensor)) return;
    require<ValueError>(earlier.name != parameter.name, "two parameters of an optimizer are called '{}'",
                        parameter.name);
  }
  Parameter added{parameter.name, parameter.tensor, rules_.size() - 1, {}};
  for (size_t k = 0; k < rules_.back()->slots().size(); ++k)
    added.kept.push_back(zero_slot(parameter.tensor));
  parameters_.push_back(std::move(added));
}

bool Optimizer::keeps() const {
  return std::any_of(parameters_.begin(), parameters_.end(),
                     [](const Parameter& parameter) { return !parameter.kept.empty(); });
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

void Optimizer::set_rate_factor(size_t group, double factor) {
  require<RecordingError>(!recording(),
                          "set_rate_factor() is called inside a compiled function, and would not be "
                          "called again by its replays; call it outside");
  require<ValueError>(group < rules_.size(), "there is no group {}: {} has {}", group, name(), rules_.size());
  check_rate_factor(factor);
  numbers_->rate_factors[group] = factor;
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

template <class Use>
void Optimizer::for_each_kept(Use use) const {
  for (const Parameter& parameter : parameters_)
    for (size_t k = 0; k < parameter.kept.size(); ++k)
      use(parameter.name + "." + rules_[parameter.group]->slots()[k], parameter.kept[k]);
}

/// Added to the batches where none of them is.
Optimizer::Batch& Optimizer::batch_for(const Parameter& parameter, int64_t updates,
                                       std::vector<Batch>& batches) const {
  const Device device = parameter.tensor.device();
  const DType dtype = parameter.tensor.dtype();
  const int64_t count = parameter.kept.empty() ? 0 : updates;  // what keeps nothing does not count
  for (Batch& b : batches)
    if (b.group == parameter.group && b.device == device && b.dtype == dtype && b.updates == count) return b;
  return batches.emplace_back(Batch{parameter.group, device, dtype, count, {}, {}});
}

std::vector<Optimizer::Batch> Optimizer::batches(const Counts& updates) const {
  std::vector<Batch> all;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    const Tensor gradient = parameter.tensor.grad();
    if (!gradient.defined()) continue;
    for (const Tensor& kept : parameter.kept)
      require<DTypeError>(kept.dtype() == parameter.tensor.dtype(),
                          "the parameter '{}' has become {}, but what {} keeps of it is {}: make a new {}",
                          parameter.name, name_of(parameter.tensor.dtype()), name(), name_of(kept.dtype()),
                          name());
    Batch& batch = batch_for(parameter, updates[i], all);
    batch.parameters.push_back(i);
    batch.operands.insert(batch.operands.end(), {parameter.tensor, gradient});
    batch.operands.insert(batch.operands.end(), parameter.kept.begin(), parameter.kept.end());
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
  const NoGrad no_grad;
  const Autocast no_autocast(DType::f32);  // rules may be ops
  Recording* current = recording();
  current ? void(record(*current, {})) : step_eagerly();
}

std::function<void()> Optimizer::step_where(const Tensor& proceeds) {
  require<DTypeError>(proceeds.defined() && proceeds.dtype() == DType::boolean,
                      "step_where: what says whether to step is {}, not bool",
                      proceeds.defined() ? name_of(proceeds.dtype()) : "undefined");
  require<ShapeError>(proceeds.rank() == 0, "step_where: what says whether to step has shape {}, not []",
                      proceeds.shape());
  const NoGrad no_grad;
  const Autocast no_autocast(DType::f32);
  if (Recording* current = recording()) return record(*current, proceeds);
  if (proceeds.item() != 0) step_eagerly();
  return {};
}

void Optimizer::step_eagerly() {
  const auto all = batches(numbers_->updates);
  const auto parameters = parameters_of(all);
  const auto before = numbers_->begin_step(parameters);
  size_t done = 0;
  try {
    for (; done < all.size(); ++done) {
      const size_t group = all[done].group;
      rules_[group]->update({},
                            {learning_rate() * numbers_->rate_factors[group], double(all[done].updates + 1)},
                            all[done].operands);
    }
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
std::function<void()> Optimizer::record(Recording& recording, const Tensor& proceeds) {
  Counts& counts = counts_in(recording);
  const auto all = batches(counts);
  const auto parameters = parameters_of(all);
  for (size_t i : parameters) ++counts[i];
  std::function<int64_t()> partition = [numbers = numbers_] { return numbers->partition(); };
  recording.depends_on(life_, "the optimizer " + name(), keeps() ? std::move(partition) : nullptr);
  auto before = std::make_shared<double>();
  const std::function<void()> take_back = [numbers = numbers_, before, parameters] {
    numbers->take_back(*before, parameters);
  };
  recording.before_replay(
      [numbers = numbers_, before, parameters] { *before = numbers->begin_step(parameters); }, take_back,
      fmt::format("a step of {} for {} parameters", name(), parameters.size()));
  record_batches(recording, all, proceeds);
  return take_back;
}

namespace {

/// Puts back, where `proceeds` is false, what tensors held when this was made. Any rule is served so, at the
/// price of three passes over what it updates.
class TakenBack {
 public:
  TakenBack(const Tensor& proceeds, const std::vector<Tensor>& operands, size_t in_group)
      : proceeds_(proceeds) {
    for (size_t i = 0; proceeds.defined() && i < operands.size(); ++i)
      if (i % in_group != 1) tensors_.emplace_back(operands[i], clone(operands[i]));  // 1: the gradient
  }
  void operator()() const {
    for (const auto& [tensor, before] : tensors_) copy_into(tensor, where(proceeds_, tensor, before));
  }

 private:
  Tensor proceeds_;
  std::vector<std::pair<Tensor, Tensor>> tensors_;
};

}  // namespace

void Optimizer::record_batches(Recording& recording, const std::vector<Batch>& batches,
                               const Tensor& proceeds) {
  for (const Batch& batch : batches) {
    const size_t first = batch.parameters[0];
    const UpdateRule& rule = *rules_[batch.group];
    auto write = [numbers = numbers_, first, group = batch.group](double* values) {
      values[0] = numbers->learning_rate * numbers->rate_factors[group];
      values[1] = double(numbers->updates[first]);
    };
    const TakenBack take_back(proceeds, batch.operands, 2 + rule.slots().size());
    rule.update(recording.changing_numbers(2, batch.device, write), {.learning_rate = 0, .step = 1},
                batch.operands);
    take_back();
  }
}

std::vector<Tensor> Optimizer::parameters() const {
  std::vector<Tensor> all;
  for (const Parameter& parameter : parameters_) all.push_back(parameter.tensor);
  return all;
}

void Optimizer::zero_grad() {
  for (Parameter& parameter : parameters_) parameter.tensor.set_grad({});
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

void Optimizer::check_groups(const std::vector<NamedTensor>& state) const {
  for (const Parameter& parameter : parameters_) {
    const std::string name = parameter.name + ".group";
    const Tensor saved = named(state, name);
    const int64_t group = saved.defined() ? count_of(name, saved) : 0;
    require<ValueError>(
        group == int64_t(parameter.group),
        "the optimizer's state has '{}' in group {} of the parameters, here it is in group {}",
        parameter.name, group, parameter.group);
  }
}

std::vector<NamedTensor> Optimizer::state() const {
  std::vector<NamedTensor> result{{"step", count_tensor(numbers_->step_count)}};
  for_each_kept([&](const std::string& name, const Tensor& kept) { result.push_back({name, kept}); });
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (!parameters_[i].kept.empty() && numbers_->updates[i] != numbers_->step_count)
      result.push_back({parameters_[i].name + ".step", count_tensor(numbers_->updates[i])});
  for (const Parameter& parameter : parameters_)
    if (parameter.group > 0)
      result.push_back({parameter.name + ".group", count_tensor(int64_t(parameter.group))});
  return result;
}

void Optimizer::load_state(const std::vector<NamedTensor>& values) {
  require<RecordingError>(!recording(),
                          "load_state() is called inside a compiled function, and would not be "
                          "called again by its replays; call it outside");
  const int64_t steps = count_of("step", named(values, "step"));
  check_groups(values);
  Counts updates(parameters_.size(), steps);
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (Tensor value = named(values, parameters_[i].name + ".step"); value.defined())
      updates[i] = count_of(parameters_[i].name + ".step", value);
  std::vector<std::pair<Tensor, Tensor>> copies;
  for_each_kept([&](const std::string& name, const Tensor& kept) {
    check_fit(name, named(values, name), kept);
    copies.emplace_back(kept, named(values, name));
  });
  NoGrad no_grad;
  for (auto& [target, value] : copies) copy_into(target, to(value, target.device()));
  numbers_->step_count = steps, numbers_->updates = std::move(updates);
}

}  // namespace treadle
