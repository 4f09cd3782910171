#include "treadle/compile/step_fusions.h"

#include <algorithm>
#include <optional>

#include "treadle/graph/registry.h"

namespace treadle {
namespace {

bool same_options(const ProgramStep& a, const ProgramStep& b) {
  const OptionsSchema* schema = a.op->options;
  return !schema || schema->describe(a.attributes) == schema->describe(b.attributes);
}

/// A program's steps as the patterns look at them.
class StepEditor {
 public:
  StepEditor(Program& program, const Recorder& recorder) : program_(program), recorder_(recorder) {}

  std::vector<ProgramStep>& steps() { return program_.steps; }
  bool is_ones(int value) const { return recorder_.is_ones(value); }
  int buffer_of(int value) const { return program_.values[size_t(value)].buffer; }

  /// How often steps mention the value's buffer.
  int mentions(int value) const {
    int count = 0;
    for (const ProgramStep& step : program_.steps) {
      for (int input : step.inputs) count += input != kNoValue && buffer_of(input) == buffer_of(value);
      for (int output : step.outputs) count += output != kNoValue && buffer_of(output) == buffer_of(value);
    }
    return count;
  }

  /// Whether a step in [begin, end) writes into the buffer of one of `values` in place.
  bool writes_between(size_t begin, size_t end, const std::vector<int>& values) const {
    for (size_t i = begin; i < end; ++i) {
      const ProgramStep& step = program_.steps[i];
      for (int index : mutated_inputs(*step.op, int(step.inputs.size())))
        for (int value : values)
          if (value != kNoValue && buffer_of(value) == buffer_of(step.inputs[size_t(index)])) return true;
    }
    return false;
  }

  void note(std::string text) { program_.fusions.push_back(std::move(text)); }

 private:
  Program& program_;
  const Recorder& recorder_;
};

/// cross_entropy and its gradient for an upstream of one, in one pass.
bool fuse_cross_entropy(StepEditor& edit) {
  if (!registry().contains("cross_entropy_with_gradient")) return false;
  auto& steps = edit.steps();
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].op->name != "cross_entropy" || edit.mentions(steps[i].outputs[1]) != 2) continue;
    for (size_t k = i + 1; k < steps.size(); ++k) {
      const ProgramStep& gradient = steps[k];
      if (gradient.op->name != "cross_entropy_gradient" || gradient.inputs[0] != steps[i].outputs[1] ||
          gradient.inputs[1] != steps[i].inputs[1] || !edit.is_ones(gradient.inputs[2]) ||
          !same_options(steps[i], gradient) || edit.writes_between(i, k, steps[i].inputs))
        continue;
      steps[i].op = &op_named("cross_entropy_with_gradient");
      steps[i].outputs[1] = gradient.outputs[0];
      steps.erase(steps.begin() + int64_t(k));
      edit.note("cross_entropy + cross_entropy_gradient → cross_entropy_with_gradient");
      return true;
    }
  }
  return false;
}

/// A pattern and what it becomes; true when it was found and replaced once.
using StepFusion = bool (*)(StepEditor&);

const StepFusion kStepFusions[] = {
    fuse_cross_entropy,
};

}  // namespace

void fuse_steps(Program& program, const Recorder& recorder) {
  StepEditor edit(program, recorder);
  for (StepFusion fuse : kStepFusions)
    while (fuse(edit)) {
    }
}

}  // namespace treadle
