#include "treadle/compile/recorder.h"

#include <algorithm>

#include "treadle/core/error.h"
#include "treadle/ops/copy.h"
#include "treadle/ops/fill.h"

namespace treadle {
namespace {

bool same_place(const RecordedValue& value, const Tensor& tensor) {
  return value.offset == tensor.handle()->offset && value.spec.shape == tensor.shape() &&
         value.spec.strides == tensor.strides() && value.spec.dtype == tensor.dtype();
}

}  // namespace

Recorder::Recorder(bool calls_hooks)
    : calls_hooks_(calls_hooks), first_storage_(detail::next_storage_number()) {}

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

Tensor Recorder::add_input(const Tensor& argument) {
  Tensor input =
      Tensor::symbolic(argument.shape(), argument.strides(), argument.dtype(), argument.device(), "an input");
  int number = int(std::count_if(buffers_.begin(), buffers_.end(), [](const RecordedBuffer& buffer) {
    return buffer.kind == RecordedBuffer::Kind::input;
  }));
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
  ones_ = other.ones_;
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
        op.name != "to_device",
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

void Recorder::before_replay(std::function<void()> work, std::function<void()> undo) {
  host_work_.push_back({std::move(work), std::move(undo), -1});
}

void Recorder::depends_on(std::weak_ptr<const void> life, std::string description,
                          std::function<int64_t()> state) {
  int64_t now = state ? state() : 0;
  for (const Dependency& known : dependencies_)
    if (!known.life.owner_before(life) && !life.owner_before(known.life)) return;
  dependencies_.push_back({std::move(life), std::move(description), std::move(state), now});
}

LeafSlot* Recorder::find_slot(const IntrusivePtr<AutogradState>& leaf) {
  for (LeafSlot& slot : slots_)
    if (slot.leaf == leaf) return &slot;
  return nullptr;
}

Tensor& Recorder::gradient_of(const IntrusivePtr<AutogradState>& leaf, const Tensor& before) {
  if (LeafSlot* slot = find_slot(leaf)) return slot->now;
  slots_.push_back({leaf, before, before, true});
  return slots_.back().now;
}

void Recorder::set_gradient_of(const IntrusivePtr<AutogradState>& leaf, const Tensor& before,
                               const Tensor& gradient) {
  if (LeafSlot* slot = find_slot(leaf))
    slot->now = gradient;
  else
    slots_.push_back({leaf, before, gradient, false});
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
