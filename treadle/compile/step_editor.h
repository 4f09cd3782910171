/// StepEditor: a program that is being built, as fusions look at it and change it.
#pragma once

#include <string>
#include <utility>

#include "treadle/compile/program.h"
#include "treadle/graph/step_graph.h"

namespace treadle {

class StepEditor final : public StepGraph {
 public:
  StepEditor(Program& program, const Recorder& recorder) : program_(program), recorder_(recorder) {}

  size_t size() const override { return program_.steps.size(); }
  const Step& operator[](size_t at) const override { return program_.steps[at]; }
  void replace(size_t at, Step step) override { static_cast<Step&>(program_.steps[at]) = std::move(step); }
  void insert(size_t before, Step step) override {
    program_.steps.insert(program_.steps.begin() + int64_t(before), ProgramStep{std::move(step)});
  }
  void erase(size_t at) override { program_.steps.erase(program_.steps.begin() + int64_t(at)); }

  const TensorSpec& spec(int value) const override { return value_at(value).spec; }
  int buffer_of(int value) const override { return value_at(value).buffer; }
  int64_t offset_of(int value) const override { return value_at(value).offset; }
  Device device_of(int value) const override {
    return recorder_.buffers()[size_t(buffer_of(value))].storage->device();
  }
  bool is_ones(int value) const override {
    if (!recorder_.is_ones(value)) return false;
    int writes = 0;
    for (const ProgramStep& step : program_.steps)
      for (int written : mutated_values(step)) writes += buffer_of(written) == buffer_of(value);
    return writes <= 1;
  }
  bool is_outside(int value) const override {
    return program_.buffer_of(value).kind != ProgramBuffer::Kind::arena;
  }
  int reshaped(int value, const Shape& shape) override {
    const ProgramValue& from = value_at(value);
    program_.values.push_back({from.buffer, from.offset, TensorSpec::of(shape, from.spec.dtype)});
    return int(program_.values.size()) - 1;
  }

 private:
  const ProgramValue& value_at(int value) const { return program_.values[size_t(value)]; }

  Program& program_;
  const Recorder& recorder_;
};

}  // namespace treadle
