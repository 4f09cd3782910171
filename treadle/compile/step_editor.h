/// StepEditor: a program's steps as the patterns of step fusions look at them and change them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "treadle/compile/program.h"
#include "treadle/graph/settings.h"

namespace treadle {

/// The user wants to see a variant of this op run.
inline bool is_pinned(const char* op) { return settings().variants.count(op) > 0; }

/// Values and steps are numbered as the program's; what a pattern adds is appended.
class StepEditor {
 public:
  StepEditor(Program& program, const Recorder& recorder) : program_(program), recorder_(recorder) {}

  std::vector<ProgramStep>& steps() { return program_.steps; }
  /// Whether the value holds ones, and no step but the one that makes them writes there.
  bool is_ones(int value) const {
    if (!recorder_.is_ones(value)) return false;
    int writes = 0;
    for (const ProgramStep& step : program_.steps)
      for (int written : mutated_values(step)) writes += buffer_of(written) == buffer_of(value);
    return writes <= 1;
  }
  int buffer_of(int value) const { return program_.values[size_t(value)].buffer; }
  const ProgramValue& value(int number) const { return program_.values[size_t(number)]; }
  Device device_of(int value) const {
    return recorder_.buffers()[size_t(buffer_of(value))].storage->device();
  }

  /// The same memory as a row-major tensor of another shape with as many elements.
  int reshaped(int value, const Shape& shape) {
    const ProgramValue& from = program_.values[size_t(value)];
    program_.values.push_back({from.buffer, from.offset, TensorSpec::of(shape, from.spec.dtype)});
    return int(program_.values.size()) - 1;
  }

  /// How often steps, and the caller, mention the value's buffer.
  int mentions(int value) const {
    int count = program_.buffers[size_t(buffer_of(value))].kind != ProgramBuffer::Kind::arena;
    for (const ProgramStep& step : program_.steps) {
      for (int input : step.inputs) count += input != kNoValue && buffer_of(input) == buffer_of(value);
      for (int output : step.outputs) count += output != kNoValue && buffer_of(output) == buffer_of(value);
    }
    return count;
  }

  /// Whether a step in [begin, end) writes into the buffer of one of `values` in place.
  bool writes_between(size_t begin, size_t end, const std::vector<int>& values) const {
    for (size_t i = begin; i < end; ++i) {
      for (int written : mutated_values(program_.steps[i]))
        for (int value : values)
          if (value != kNoValue && buffer_of(value) == buffer_of(written)) return true;
    }
    return false;
  }

  void note(std::string text) { program_.fusions.push_back(std::move(text)); }

 private:
  Program& program_;
  const Recorder& recorder_;
};

}  // namespace treadle
