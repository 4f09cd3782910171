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

std::atomic<uint64_t> recordings_made{0};

bool same_life(const std::weak_ptr<const void>& a, const std::weak_ptr<const void>& b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

bool same_place(const RecordedValue& value, const Tensor& tensor) {
  return value.offset == tensor.handle()->offset && value.spec.shape == tensor.shape() &&
         value.spec.strides == tensor.strides() && value.spec.dtype == tensor.dtype();
}

}  // namespace

Recorder::Recorder(bool calls_hooks, bool pins_gradients)
    : calls_hooks_(calls_hooks),
      pins_gradients_(pins_gradients),
      number_(recordings_made++),
      first_storage_(detail::next_storage_number()) {}

int Recorder::add_buffer(RecordedBuffer buffer) {
  const Storage* storage = buffer.storage.get();
  buffers_.push_back(std::move(buffer));
  values_in_buffer_.emplace_back();
  return buffer_numbers_[storage] = int(buffers_.size()) - 1;
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
  using Kind = RecordedBuffer::Kind;
  Kind kind = storage->is_symbolic() ? Kind::result : made_inside ? Kind::constant : Kind::captured;
  return add_buffer({kind, storage, 0});
}

int Recorder::value_of(const Tensor& tensor) {
  if (!tensor.defined()) return kNoValue;
  if (auto found = value_numbers_.find(tensor.handle().get()); found != value_numbers_.end())
    return found->second;
  int buffer = buffer_of(tensor);
  kept_.push_back(tensor);
  for (int number : values_in_buffer_[buffer])
    if (same_place(values_[number], tensor)) return value_numbers_[tensor.handle().get()] = number;
  int number = int(values_.size());
  values_.push_back({buffer, tensor.handle()->offset, TensorSpec::of(tensor), tensor});
  values_in_buffer_[buffer].push_back(number);
  return value_numbers_[tensor.handle().get()] = number;
}

Tensor Recorder::add_input(const Tensor& argument, int number) {
  Tensor input =
      Tensor::symbolic(argument.shape(), argument.strides(), argument.dtype(), argument.device(), "an input");
  add_buffer({RecordedBuffer::Kind::input, input.handle()->storage, number});
  value_of(input);
  return input;
}

void Recorder::adopt_inputs(const Recorder& other) {
  for (const RecordedBuffer& buffer : other.buffers_)
    if (buffer.kind != RecordedBuffer::Kind::result) add_buffer(buffer);
  numbers_ = other.numbers_;
  host_work_ = other.host_work_;
  dependencies_ = other.dependencies_;
  gradient_leaves_ = other.gradient_leaves_;
  ones_ = other.ones_;
}

bool Recorder::needs_pinned_gradients() const {
  std::set<const Storage*> storages(stood_for_.begin(), stood_for_.end());
  return writes_gradients_ || storages.size() < stood_for_.size() ||
         std::any_of(buffers_.begin(), buffers_.end(),
                     [&](const RecordedBuffer& buffer) { return storages.count(buffer.storage.get()) > 0; });
}

std::vector<Tensor> Recorder::captured_tensors() const {
  std::vector<Tensor> tensors;
  for (const Tensor& tensor : kept_) {
    auto buffer = buffer_numbers_.find(tensor.handle()->storage.get());
    if (buffer != buffer_numbers_.end() && buffers_[buffer->second].kind == RecordedBuffer::Kind::captured)
      tensors.push_back(tensor);
  }
  return tensors;
}

bool Recorder::is_constant(const Tensor& tensor) {
  return tensor.defined() && buffers_[buffer_of(tensor)].kind == RecordedBuffer::Kind::constant;
}

void Recorder::copy_constants(std::vector<Tensor>& results) {
  NoGrad no_grad;
  for (Tensor& result : results)
    if (is_constant(result)) result = clone(result);
  for (LeafSlot& slot : slots_)
    if (is_constant(slot.now)) slot.now = clone(slot.now);
}

bool Recorder::is_ones(int value) const {
  return value != kNoValue &&
         std::count(ones_.begin(), ones_.end(), buffers_[values_[value].buffer].storage.get()) > 0;
}

std::vector<Tensor> Recorder::results_of(const Op& op, const std::vector<Tensor>& inputs,
                                         const Attributes& attributes) {
  std::vector<Tensor> results;
  if (!op.mutates.empty()) {
    for (int index : mutated_inputs(op, int(inputs.size()))) {
      const RecordedBuffer& buffer = buffers_[buffer_of(inputs[index])];
      writes_gradients_ |= buffer.kind == RecordedBuffer::Kind::gradient;
      require<RecordingError>(
          buffer.kind != RecordedBuffer::Kind::constant && buffer.kind != RecordedBuffer::Kind::input,
          "{} writes into {} {}: {}", op.name,
          buffer.kind == RecordedBuffer::Kind::input ? "an argument of a compiled function"
                                                     : "a tensor that a compiled function makes from numbers",
          inputs[index].shape(),
          buffer.kind == RecordedBuffer::Kind::input
              ? "clone() it, or capture the tensor instead of passing it"
              : "a replay would find what the last one left; make the tensor outside of the function, or "
                "with an op such as full()");
      results.push_back(inputs[index]);
    }
    return results;
  }
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
  RecordedStep step;
  step.op = &op;
  step.attributes = attributes;
  step.gradient_mode = gradient_mode();
  step.derived = backward_depth_ > 0;
  for (const Tensor& input : inputs) {
    step.inputs.push_back(value_of(input));
    step.flows.push_back(input.defined() && input.requires_grad());
    step.leaves.push_back(leaf_state(input));
    step.states.push_back(step.flows.back() ? input.handle()->autograd : IntrusivePtr<AutogradState>());
  }
  auto results = results_of(op, inputs, attributes);
  step.results = results;
  for (const Tensor& result : results) step.outputs.push_back(value_of(result));
  events_.push_back(std::move(step));
  return results;
}

Tensor Recorder::changing_numbers(int64_t count, Device device, std::function<void(double*)> write) {
  Tensor tensor =
      Tensor::symbolic({count}, contiguous_strides({count}), DType::f64, device, "changing numbers");
  int number = int(numbers_.size());
  add_buffer({RecordedBuffer::Kind::numbers, tensor.handle()->storage, number});
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
  add_buffer({RecordedBuffer::Kind::gradient, tensor.handle()->storage, int(gradient_leaves_.size())});
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

LeafGradients Recorder::leaf_gradients() {
  LeafGradients gradients;
  for (const LeafSlot& slot : slots_) gradients.emplace_back(slot.leaf, value_of(slot.now));
  return gradients;
}

void Recorder::begin_backward(const Tensor& root, const Tensor& upstream, bool retain_graph) {
  events_.push_back(RecordedBackward{value_of(root),
                                     value_of(upstream),
                                     root.handle()->autograd,
                                     bool(leaf_state(root)),
                                     retain_graph,
                                     leaf_gradients(),
                                     {}});
  ++backward_depth_;
}

void Recorder::end_backward() {
  --backward_depth_;
  for (auto event = events_.rbegin(); event != events_.rend(); ++event)
    if (auto* backward = std::get_if<RecordedBackward>(&*event)) {
      backward->after = leaf_gradients();
      return;
    }
}

Tensor Recorder::ones_like(const Tensor& root) {
  Tensor ones = full(root.shape(), 1, root.dtype(), root.device());
  ones_.push_back(ones.handle()->storage.get());
  return ones;
}

}  // namespace treadle
