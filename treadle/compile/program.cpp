#include "treadle/compile/program.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "treadle/compile/arena.h"
#include "treadle/compile/fusions.h"
#include "treadle/compile/step_fusions.h"
#include "treadle/core/error.h"
#include "treadle/graph/op.h"

namespace treadle {
namespace {

using Kind = ProgramBuffer::Kind;

/// What the function makes of a leaf's gradient.
struct ChangedGradient {
  IntrusivePtr<AutogradState> leaf;
  Tensor now;
  bool reads_before;  ///< it follows from the gradient that was there before
};

/// Turns a recording's list into a program.
class Builder {
 public:
  Builder(const Recorder& recorder, const std::vector<Tensor>& outputs, int arguments,
          const std::vector<ChangedGradient>& gradients, std::vector<std::string> fusions, bool fuse)
      : recorder_(recorder), program_(std::make_unique<Program>()) {
    program_->fusions = std::move(fusions);
    program_->arguments = arguments;
    program_->gradient_inputs = recorder.gradient_leaves();
    program_->numbers = recorder.numbers();
    program_->host_work = recorder.host_work();
    add_buffers_and_values();
    add_steps();
    for (const Tensor& tensor : outputs) program_->outputs.push_back(output_of(tensor));
    add_gradients(gradients);
    if (fuse) fuse_steps(*program_, recorder);
    remove_dead_steps();
    find_device();
    find_lifetimes();
    program_->statistics.arena_bytes = plan_arena(program_->buffers);
    count_bytes();
  }

  std::unique_ptr<Program> take() { return std::move(program_); }

 private:
  static Kind kind_of(RecordedBuffer::Kind kind) {
    switch (kind) {
      case RecordedBuffer::Kind::input:
      case RecordedBuffer::Kind::gradient:
        return Kind::input;
      case RecordedBuffer::Kind::numbers:
        return Kind::numbers;
      case RecordedBuffer::Kind::result:
        return Kind::arena;
      default:
        return Kind::captured;
    }
  }

  void add_buffer(const RecordedBuffer& buffer) {
    const Kind kind = kind_of(buffer.kind);
    const int before = buffer.kind == RecordedBuffer::Kind::gradient ? program_->arguments : 0;
    program_->buffers.push_back({kind, kind == Kind::captured ? buffer.storage : IntrusivePtr<Storage>(),
                                 before + buffer.number, buffer.storage->bytes()});
  }

  void add_buffers_and_values() {
    for (const RecordedBuffer& buffer : recorder_.buffers()) add_buffer(buffer);
    for (const RecordedValue& value : recorder_.values())
      program_->values.push_back({value.buffer, value.offset, value.spec});
  }

  bool is_empty(const RecordedStep& step) const {
    for (int value : step.outputs)
      if (value != kNoValue && program_->values[value].spec.shape.numel() > 0) return false;
    return true;
  }

  void add_steps() {
    for (const RecordedEvent& event : recorder_.events()) {
      auto* step = std::get_if<RecordedStep>(&event);
      if (!step) continue;
      note_leaves(*step);
      ++program_->statistics.recorded_ops;
      if (step->op->direct || is_empty(*step)) continue;
      program_->steps.push_back({*step});
    }
  }

  int output_number(int value) {
    ProgramBuffer& buffer = program_->buffers[program_->values[value].buffer];
    if (buffer.kind == Kind::arena) {
      buffer.kind = Kind::output;
      buffer.number = program_->output_buffers++;
    }
    return value;
  }

  ProgramOutput output_of(const Tensor& tensor) {
    ProgramOutput output;
    if (!tensor.defined()) return output;
    output.value = output_number(value_of(tensor));
    const ProgramBuffer& buffer = program_->buffer_of(output.value);
    if (buffer.kind == Kind::captured) output.existing = buffer.storage;
    if (buffer.kind == Kind::input) output.input = buffer.number;
    return output;
  }

  int value_of(const Tensor& tensor) {
    int value = const_cast<Recorder&>(recorder_).value_of(tensor);
    while (program_->values.size() <= size_t(value)) add_late_value();
    return value;
  }

  void note_leaves(const RecordedStep& step) {
    for (size_t i = 0; i < step.inputs.size(); ++i)
      if (step.leaves[i]) leaf_buffers_[step.leaves[i].get()] = program_->values[step.inputs[i]].buffer;
  }

  /// A tensor that no step has seen, such as one that the function returns as it is.
  void add_late_value() {
    const RecordedValue& value = recorder_.values()[program_->values.size()];
    while (program_->buffers.size() < recorder_.buffers().size())
      add_buffer(recorder_.buffers()[program_->buffers.size()]);
    program_->values.push_back({value.buffer, value.offset, value.spec});
  }

  /// A gradient that an update of its leaf has used stays inside, unless the next call adds to it; others are
  /// left to the caller. Nobody outside has the leaves that the function makes.
  void add_gradients(const std::vector<ChangedGradient>& gradients) {
    for (const ChangedGradient& gradient : gradients) {
      auto buffer = leaf_buffers_.find(gradient.leaf.get());
      bool known = buffer != leaf_buffers_.end();
      if (known && program_->buffers[size_t(buffer->second)].kind != Kind::captured) continue;
      bool stays = known && gradient.now.defined() && !gradient.reads_before &&
                   is_consumed(value_of(gradient.now), buffer->second);
      program_->gradients.push_back(
          {stays ? ProgramOutput{} : output_of(gradient.now), gradient.leaf, gradient.reads_before});
    }
  }

  /// Whether a step updates `leaf` in place with a gradient; both are buffers.
  bool is_consumed(int gradient, int leaf) const {
    int buffer = program_->values[gradient].buffer;
    for (const ProgramStep& step : program_->steps) {
      auto lies_in = [&](int which) {
        return
            [this, which](int value) { return value != kNoValue && program_->values[value].buffer == which; };
      };
      auto written = mutated_values(step);
      if (std::any_of(step.inputs.begin(), step.inputs.end(), lies_in(buffer)) &&
          std::any_of(written.begin(), written.end(), lies_in(leaf)) &&
          std::none_of(written.begin(), written.end(), lies_in(buffer)))
        return true;
    }
    return false;
  }

  void remove_dead_steps() {
    std::set<int> needed;  // buffers
    for (size_t i = 0; i < program_->buffers.size(); ++i)
      if (program_->buffers[i].kind != Kind::arena) needed.insert(int(i));
    std::vector<ProgramStep> kept;
    for (size_t i = program_->steps.size(); i-- > 0;) {
      ProgramStep& step = program_->steps[i];
      auto writes_needed = [&](int value) {
        return value != kNoValue && needed.count(program_->values[value].buffer) > 0;
      };
      // What a step updates in place are its outputs, too.
      if (std::none_of(step.outputs.begin(), step.outputs.end(), writes_needed)) continue;
      for (int value : step.inputs)
        if (value != kNoValue) needed.insert(program_->values[value].buffer);
      kept.push_back(std::move(step));
    }
    program_->steps.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
  }

  /// One device runs all steps.
  void find_device() {
    bool found = false;
    auto visit = [&](const ProgramStep& step, int value) {
      if (value == kNoValue) return;
      Device device = recorder_.buffers()[size_t(program_->values[size_t(value)].buffer)].storage->device();
      require<RecordingError>(!found || device == program_->device,
                              "a compiled function works on {} and, in {}, on {}: its tensors must be on one "
                              "device",
                              program_->device, step.op->name, device);
      program_->device = device, found = true;
    };
    for (const ProgramStep& step : program_->steps)
      for (const auto* values : {&step.inputs, &step.outputs})
        for (int value : *values) visit(step, value);
    if (!found && !recorder_.buffers().empty())
      program_->device = recorder_.buffers().back().storage->device();
  }

  void find_lifetimes() {
    for (size_t i = 0; i < program_->steps.size(); ++i) {
      auto use = [&](int value) {
        if (value == kNoValue) return;
        ProgramBuffer& buffer = program_->buffers[program_->values[value].buffer];
        if (buffer.first < 0) buffer.first = int(i);
        buffer.last = int(i);
      };
      for (int value : program_->steps[i].inputs) use(value);
      for (int value : program_->steps[i].outputs) use(value);
    }
  }

  void count_bytes() {
    for (const ProgramBuffer& buffer : program_->buffers) {
      if (buffer.first < 0) continue;
      if (buffer.kind == Kind::arena) program_->statistics.separate_bytes += buffer.bytes;
      if (buffer.kind == Kind::output) program_->statistics.output_bytes += buffer.bytes;
    }
  }

  const Recorder& recorder_;
  std::unique_ptr<Program> program_;
  std::unordered_map<const AutogradState*, int> leaf_buffers_;
};

/// Leaf gradients that the function sets or adds to. `now` has what slot i of `recorded` holds in the
/// recording that becomes the program.
std::vector<ChangedGradient> changed_gradients(const Recorder& recorded, const std::vector<Tensor>& now) {
  std::vector<ChangedGradient> changed;
  for (size_t i = 0; i < recorded.leaf_slots().size(); ++i) {
    const LeafSlot& slot = recorded.leaf_slots()[i];
    bool only_read = slot.reads_before && slot.found.handle() == slot.now.handle();
    if (!only_read) changed.push_back({slot.leaf, now[i], slot.reads_before});
  }
  return changed;
}

}  // namespace

const Tensor& Program::input(std::span<const Tensor> given, int number) const {
  if (number < arguments) return given[size_t(number)];
  return leaf_gradient(gradient_inputs[size_t(number - arguments)]);
}

CapturedWrites Program::captured_writes() const {
  CapturedWrites writes{{}, steps.size()};
  for (size_t i = steps.size(); i-- > 0;)
    for (int value : mutated_values(steps[i])) {
      const auto& storage = buffer_of(value).storage;
      if (!storage) continue;
      writes.first_step = i;
      if (std::find(writes.storages.begin(), writes.storages.end(), storage) == writes.storages.end())
        writes.storages.push_back(storage);
    }
  return writes;
}

std::unique_ptr<Program> build_program(const Recorder& recorded, const std::vector<Tensor>& outputs,
                                       int arguments, bool fuse) {
  FusedRecording fused;
  if (fuse) fused = fuse_forward(recorded, outputs);
  if (fused.recorder)
    return Builder(*fused.recorder, fused.outputs, arguments, changed_gradients(recorded, fused.gradients),
                   fused.applied, fuse)
        .take();
  std::vector<Tensor> now;
  for (const LeafSlot& slot : recorded.leaf_slots()) now.push_back(slot.now);
  return Builder(recorded, outputs, arguments, changed_gradients(recorded, now), {}, fuse).take();
}

}  // namespace treadle
