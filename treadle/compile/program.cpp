#include "treadle/compile/program.h"

#include <algorithm>
#include <set>

#include "treadle/compile/fusions.h"
#include "treadle/compile/step_fusions.h"
#include "treadle/core/error.h"

namespace treadle {
namespace {

using Kind = ProgramBuffer::Kind;

std::vector<int> mutated_values(const ProgramStep& step) {
  std::vector<int> values;
  for (int index : mutated_inputs(*step.op, int(step.inputs.size()))) values.push_back(step.inputs[index]);
  return values;
}

/// Turns a recording's list into a program.
class Builder {
 public:
  Builder(const Recorder& recorder, std::vector<Tensor> outputs, LeafGradients gradients,
          std::vector<std::string> fusions)
      : recorder_(recorder), program_(std::make_unique<Program>()) {
    program_->fusions = std::move(fusions);
    program_->numbers = recorder.numbers();
    program_->host_work = recorder.host_work();
    add_buffers_and_values();
    add_steps();
    add_outputs(outputs);
    add_gradients(gradients);
    fuse_steps(*program_, recorder);
    remove_dead_steps();
    find_lifetimes();
    program_->statistics.arena_bytes = plan_arena(program_->buffers);
    count_bytes();
  }

  std::unique_ptr<Program> take() { return std::move(program_); }

 private:
  static Kind kind_of(RecordedBuffer::Kind kind) {
    switch (kind) {
      case RecordedBuffer::Kind::input:
        return Kind::input;
      case RecordedBuffer::Kind::numbers:
        return Kind::numbers;
      case RecordedBuffer::Kind::result:
        return Kind::arena;
      default:
        return Kind::captured;
    }
  }

  void add_buffers_and_values() {
    for (const RecordedBuffer& buffer : recorder_.buffers()) {
      Kind kind = kind_of(buffer.kind);
      program_->inputs += kind == Kind::input;
      const Storage& storage = *buffer.storage;
      program_->device = storage.device();
      program_->buffers.push_back({kind, kind == Kind::captured ? buffer.storage : IntrusivePtr<Storage>(),
                                   buffer.number, storage.bytes(), -1, -1, 0,
                                   storage.is_symbolic() ? storage.origin() : "captured"});
    }
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
      ++program_->statistics.recorded_ops;
      if (step->op->direct || is_empty(*step)) continue;
      program_->steps.push_back({step->op, step->attributes, step->inputs, step->outputs});
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

  void add_outputs(const std::vector<Tensor>& outputs) {
    for (const Tensor& tensor : outputs) {
      ProgramOutput output;
      if (tensor.defined()) {
        int value = const_cast<Recorder&>(recorder_).value_of(tensor);
        while (program_->values.size() <= size_t(value)) add_late_value();
        const ProgramBuffer& buffer = program_->buffers[program_->values[value].buffer];
        output.value = output_number(value);
        if (buffer.kind == Kind::captured) output.existing = tensor.detach();
        if (buffer.kind == Kind::input) output.input = buffer.number;
      }
      program_->outputs.push_back(output);
    }
  }

  /// A tensor that no step has seen, such as one that the function returns as it is.
  void add_late_value() {
    const RecordedValue& value = recorder_.values()[program_->values.size()];
    while (program_->buffers.size() < recorder_.buffers().size()) {
      const RecordedBuffer& buffer = recorder_.buffers()[program_->buffers.size()];
      program_->buffers.push_back({kind_of(buffer.kind), buffer.storage, buffer.number,
                                   buffer.storage->bytes(), -1, -1, 0, "captured"});
    }
    program_->values.push_back({value.buffer, value.offset, value.spec});
  }

  /// A gradient that an update in place has used stays inside; others are left to the caller.
  void add_gradients(const LeafGradients& gradients) {
    for (auto& [leaf, value] : gradients) {
      if (value == kNoValue) {
        program_->gradients.push_back({leaf, kNoValue});
        continue;
      }
      program_->gradients.push_back({leaf, is_consumed(value) ? kNoValue : output_number(value)});
    }
  }

  bool is_consumed(int gradient) const {
    int buffer = program_->values[gradient].buffer;
    for (const ProgramStep& step : program_->steps) {
      if (step.op->mutates.empty()) continue;
      auto in_buffer = [&](int value) {
        return value != kNoValue && program_->values[value].buffer == buffer;
      };
      auto written = mutated_values(step);
      if (std::any_of(step.inputs.begin(), step.inputs.end(), in_buffer) &&
          std::none_of(written.begin(), written.end(), in_buffer))
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
      auto written = mutated_values(step);
      bool alive = std::any_of(step.outputs.begin(), step.outputs.end(), writes_needed) ||
                   std::any_of(written.begin(), written.end(), writes_needed);
      if (!alive) continue;
      for (int value : step.inputs)
        if (value != kNoValue) needed.insert(program_->values[value].buffer);
      kept.push_back(std::move(step));
    }
    program_->steps.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
    program_->statistics.steps = int(program_->steps.size());
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
};

/// Leaf gradients that the function changed: slot → value in the recording that became the program.
LeafGradients changed_gradients(const Recorder& recorded, const std::vector<Tensor>& now,
                                const Recorder& final) {
  LeafGradients changed;
  for (size_t i = 0; i < recorded.leaf_slots().size(); ++i) {
    const LeafSlot& slot = recorded.leaf_slots()[i];
    bool same = slot.before.handle() == slot.now.handle();
    if (!same) changed.emplace_back(slot.leaf, const_cast<Recorder&>(final).value_of(now[i]));
  }
  return changed;
}

}  // namespace

bool Program::mutates() const {
  for (const ProgramStep& step : steps)
    for (int value : mutated_values(step))
      if (buffers[values[value].buffer].kind == Kind::captured) return true;
  return false;
}

std::unique_ptr<Program> build_program(const Recorder& recorded, const std::vector<Tensor>& outputs) {
  FusedRecording fused = fuse_forward(recorded, outputs);
  if (fused.recorder) {
    auto gradients = changed_gradients(recorded, fused.gradients, *fused.recorder);
    return Builder(*fused.recorder, fused.outputs, gradients, fused.applied).take();
  }
  std::vector<Tensor> now;
  for (const LeafSlot& slot : recorded.leaf_slots()) now.push_back(slot.now);
  return Builder(recorded, outputs, changed_gradients(recorded, now, recorded), {}).take();
}

}  // namespace treadle
