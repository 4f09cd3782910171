#include "treadle/compile/recorder.h"

#include <algorithm>
#include <atomic>
#include <set>

#include "treadle/core/error.h"
#include "treadle/graph/op.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/copy.h"

namespace treadle {
namespace {

using Kind = GraphBuffer::Kind;

std::atomic<uint64_t> recordings_made{0};

bool same_life(const std::weak_ptr<const void>& a, const std::weak_ptr<const void>& b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

bool same_place(const GraphValue& value, const Tensor& tensor) {
  return value.offset == tensor.handle()->offset && value.spec.shape == tensor.shape() &&
         value.spec.strides == tensor.strides() && value.spec.dtype == tensor.dtype();
}

}  // namespace

Recorder::Recorder(bool calls_hooks, bool pins_gradients)
    : calls_hooks_(calls_hooks),
      pins_gradients_(pins_gradients),
      number_(recordings_made++),
      first_storage_(detail::next_storage_number()) {}

const Op& backward_marker() {
  static const Op& op = []() -> Op& {
    auto& marker = *new Op;
    marker.name = "backward()";
    return marker;
  }();
  return op;
}

int Recorder::add_buffer(GraphBuffer buffer) {
  const Storage* storage = buffer.storage.get();
  values_in_buffer_.emplace_back();
  return buffer_numbers_[storage] = graph_.steps.add_buffer(std::move(buffer));
}

int Recorder::add_buffer(GraphBuffer::Kind kind, const IntrusivePtr<Storage>& storage, int number) {
  return add_buffer({kind, storage, number, storage->bytes(), storage->device()});
}

int Recorder::buffer_of(const Tensor& tensor) {
  const auto& storage = tensor.handle()->storage;
  if (auto found = buffer_numbers_.find(storage.get()); found != buffer_numbers_.end()) return found->second;
  bool made_inside = storage->number() >= first_storage_;
  require<RecordingError>(
      made_inside || !storage->is_symbolic(),
      "a compiled function uses a tensor ('{}' {}) that an earlier recording left behind; "
      "such a tensor has no value: return it from the function that makes it",
      storage->is_symbolic() ? storage->origin() : "", tensor.shape());
  return add_buffer(storage->is_symbolic() ? Kind::result
                    : made_inside          ? Kind::constant
                                           : Kind::captured,
                    storage);
}

int Recorder::value_of(const Tensor& tensor) {
  if (!tensor.defined()) return kNoValue;
  if (auto found = value_numbers_.find(tensor.handle().get()); found != value_numbers_.end())
    return found->second;
  int buffer = buffer_of(tensor);
  kept_.push_back(tensor);
  for (int number : values_in_buffer_[buffer])
    if (same_place(graph().values()[size_t(number)], tensor))
      return value_numbers_[tensor.handle().get()] = number;
  const int number = graph_.steps.add_value({buffer, tensor.handle()->offset, TensorSpec::of(tensor)});
  tensors_.push_back(tensor);
  values_in_buffer_[buffer].push_back(number);
  return value_numbers_[tensor.handle().get()] = number;
}

Tensor Recorder::add_input(const Tensor& argument, int number) {
  Tensor input =
      Tensor::symbolic(argument.shape(), argument.strides(), argument.dtype(), argument.device(), "an input");
  add_buffer(Kind::input, input.handle()->storage, number);
  value_of(input);
  return input;
}

void Recorder::adopt_inputs(const Recorder& other) {
  for (const GraphBuffer& buffer : other.graph().buffers())
    if (buffer.kind != Kind::result) add_buffer(buffer);
  numbers_ = other.numbers_;
  host_work_ = other.host_work_;
  dependencies_ = other.dependencies_;
  gradient_leaves_ = other.gradient_leaves_;
}

bool Recorder::needs_pinned_gradients() const {
  std::set<const Storage*> storages(stood_for_.begin(), stood_for_.end());
  return writes_gradients_ || storages.size() < stood_for_.size() ||
         std::any_of(graph().buffers().begin(), graph().buffers().end(),
                     [&](const GraphBuffer& buffer) { return storages.count(buffer.storage.get()) > 0; });
}

std::vector<Tensor> Recorder::captured_tensors() const {
  std::vector<Tensor> tensors;
  for (const Tensor& tensor : kept_) {
    auto buffer = buffer_numbers_.find(tensor.handle()->storage.get());
    if (buffer != buffer_numbers_.end() && graph().buffers()[size_t(buffer->second)].kind == Kind::captured)
      tensors.push_back(tensor);
  }
  return tensors;
}

bool Recorder::is_constant(const Tensor& tensor) {
  if (!tensor.defined()) return false;
  const int buffer = buffer_of(tensor);
  return graph().buffers()[size_t(buffer)].kind == Kind::constant;
}

void Recorder::copy_constants(std::vector<Tensor>& results) {
  NoGrad no_grad;
  for (Tensor& result : results)
    if (is_constant(result)) result = clone(result);
  for (LeafSlot& slot : slots_)
    if (is_constant(slot.now)) slot.now = clone(slot.now);
}

void Recorder::require_writable(const Op& op, const Tensor& tensor) {
  const Kind kind = graph().buffers()[size_t(buffer_of(tensor))].kind;
  writes_gradients_ |= kind == Kind::gradient;
  require<RecordingError>(kind != Kind::input,
                          "{} writes into an argument of a compiled function {}: clone() it, or capture the "
                          "tensor instead of passing it",
                          op.name, tensor.shape());
  require<RecordingError>(kind != Kind::constant,
                          "{} writes into a tensor that a compiled function makes from numbers {}: a replay "
                          "would find what the last one left; make the tensor outside of the function, or "
                          "with an op such as full()",
                          op.name, tensor.shape());
}

std::vector<Tensor> Recorder::results_of(const Op& op, const std::vector<Tensor>& inputs,
                                         const Attributes& attributes) {
  std::vector<Tensor> results;
  for (int index : mutated_inputs(op, int(inputs.size()))) {
    require_writable(op, inputs[index]);
    results.push_back(inputs[index]);
  }
  if (!op.mutates.empty()) return results;
  if (op.direct) {
    require<RecordingError>(
        !op.changes_device,
        "a compiled function moves a tensor {} to another device; move it before the call",
        inputs[0].shape());
    return op.direct(inputs, attributes);
  }
  std::vector<TensorSpec> specs;
  Device device;
  for (const Tensor& input : inputs) {
    specs.push_back(TensorSpec::of(input));
    if (input.defined()) device = input.device();
  }
  for (const TensorSpec& spec : op.infer(specs, attributes))
    results.push_back(Tensor::symbolic(spec.shape, spec.strides, spec.dtype, device, op.name.c_str()));
  return results;
}

std::vector<Tensor> Recorder::record(const Op& op, const std::vector<Tensor>& inputs,
                                     const Attributes& attributes) {
  Step step{&op, attributes, {}, {}};
  StepRecord record;
  record.gradient_mode = gradient_mode();
  record.derived = !backwards_.empty();
  for (const Tensor& input : inputs) {
    step.inputs.push_back(value_of(input));
    record.flows.push_back(input.defined() && input.requires_grad());
    record.leaves.push_back(leaf_state(input));
    record.states.push_back(record.flows.back() ? input.handle()->autograd : IntrusivePtr<AutogradState>());
  }
  auto results = results_of(op, inputs, attributes);
  record.results = results;
  for (const Tensor& result : results) step.outputs.push_back(value_of(result));
  add(std::move(step), std::move(record));
  return results;
}

void Recorder::add(Step step, StepRecord record) {
  graph_.steps.add(std::move(step));
  graph_.records.push_back(std::move(record));
}

Tensor Recorder::changing_numbers(int64_t count, Device device, std::function<void(double*)> write) {
  Tensor tensor =
      Tensor::symbolic({count}, contiguous_strides({count}), DType::f64, device, "changing numbers");
  int number = int(numbers_.size());
  add_buffer(Kind::numbers, tensor.handle()->storage, number);
  numbers_.push_back({tensor, std::move(write)});
  host_work_.push_back({{}, {}, number});
  return tensor;
}

void Recorder::before_replay(std::function<void()> work, std::function<void()> undo,
                             std::string description) {
  host_work_.push_back({std::move(work), std::move(undo), -1, std::move(description)});
}

void Recorder::depends_on(std::weak_ptr<const void> life, std::string description,
                          std::function<int64_t()> state) {
  for (const Dependency& known : dependencies_)
    if (same_life(known.life, life)) return;
  for (const StateChange& change : state_changes_)
    if (same_life(change.life, life)) state = {};  // the function's own
  int64_t now = state ? state() : 0;
  dependencies_.push_back({std::move(life), std::move(description), std::move(state), now});
}

void Recorder::sets_state(std::weak_ptr<const void> life, std::function<void()> again) {
  std::erase_if(state_changes_, [&](const StateChange& known) { return same_life(known.life, life); });
  state_changes_.push_back({std::move(life), std::move(again)});
}

LeafSlot* Recorder::find_slot(const IntrusivePtr<AutogradState>& leaf) {
  for (LeafSlot& slot : slots_)
    if (slot.leaf == leaf) return &slot;
  return nullptr;
}

Tensor& Recorder::gradient_of(const IntrusivePtr<AutogradState>& leaf, const Tensor& before) {
  if (LeafSlot* slot = find_slot(leaf)) return slot->now;
  const Tensor found = before.defined() && !pins_gradients_ ? stand_in(leaf, before) : before;
  slots_.push_back({leaf, found, found, true});
  return slots_.back().now;
}

/// Stands for whatever gradient of this shape and layout a call finds.
Tensor Recorder::stand_in(const IntrusivePtr<AutogradState>& leaf, const Tensor& gradient) {
  Tensor tensor = Tensor::symbolic(gradient.shape(), gradient.strides(), gradient.dtype(), gradient.device(),
                                   "a gradient from before");
  add_buffer(Kind::gradient, tensor.handle()->storage, int(gradient_leaves_.size()));
  gradient_leaves_.push_back(leaf);
  stood_for_.push_back(gradient.handle()->storage.get());
  return tensor;
}

void Recorder::set_gradient_of(const IntrusivePtr<AutogradState>& leaf, const Tensor&,
                               const Tensor& gradient) {
  if (LeafSlot* slot = find_slot(leaf))
    slot->now = gradient;
  else
    slots_.push_back({leaf, {}, gradient, false});
}

/// Values of the gradients that leaves have now.
std::vector<int> Recorder::leaf_gradients(std::vector<IntrusivePtr<AutogradState>>& leaves) {
  std::vector<int> values;
  for (const LeafSlot& slot : slots_) {
    leaves.push_back(slot.leaf);
    values.push_back(value_of(slot.now));
  }
  return values;
}

void Recorder::begin_backward(const Tensor& root, const Tensor& upstream, bool retain_graph) {
  StepRecord record;
  record.backward = std::make_shared<RecordedBackward>(
      RecordedBackward{root.handle()->autograd, bool(leaf_state(root)), retain_graph, {}, {}});
  Step step{&backward_marker(), {}, {value_of(root), value_of(upstream)}, {}};
  const auto gradients = leaf_gradients(record.backward->before);
  step.inputs.insert(step.inputs.end(), gradients.begin(), gradients.end());
  backwards_.push_back(graph().size());
  add(std::move(step), std::move(record));
}

void Recorder::end_backward() {
  const size_t at = backwards_.back();
  backwards_.pop_back();
  Step step = graph()[at];
  step.outputs = leaf_gradients(graph_.records[at].backward->after);
  graph_.steps.replace(at, std::move(step));
}

Tensor Recorder::ones_like(const Tensor& root) {
  Tensor ones = full(root.shape(), 1, root.dtype(), root.device());
  graph_.steps.set_ones(value_of(ones));
  return ones;
}

}  // namespace treadle
