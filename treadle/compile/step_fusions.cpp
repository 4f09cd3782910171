#include "treadle/compile/step_fusions.h"

#include <algorithm>

#include "treadle/graph/registry.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/linear_options.h"
#include "treadle/ops/optimizer_options.h"

namespace treadle {
namespace {

/// The user wants to see a variant of this op run.
bool is_pinned(const char* op) { return settings().variants.count(op) > 0; }

bool same_options(const ProgramStep& a, const ProgramStep& b) {
  const OptionsSchema* schema = a.op->options;
  return !schema || schema->describe(a.attributes) == schema->describe(b.attributes);
}

/// A program's steps as the patterns look at them.
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

/// cross_entropy and its gradient for an upstream of one, in one pass.
bool fuse_cross_entropy(StepEditor& edit) {
  if (is_pinned("cross_entropy") || is_pinned("cross_entropy_gradient")) return false;
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

/// The place of a gradient in an update of groups {p, g}; 0 when it is not there.
size_t place_of_gradient(const ProgramStep& update, int gradient) {
  for (size_t i = 2; i < update.inputs.size(); i += 2)
    if (update.inputs[i] == gradient) return i;
  return 0;
}

/// The group at `place` leaves the update; outputs are the parameters.
void remove_group(ProgramStep& update, size_t place) {
  update.inputs.erase(update.inputs.begin() + int64_t(place) - 1, update.inputs.begin() + int64_t(place) + 1);
  update.outputs.erase(update.outputs.begin() + int64_t(place / 2 - 1));
}

/// The update that takes all of a linear layer's gradients and nobody else does; -1 when there is none.
int64_t sole_update(StepEditor& edit, size_t gradient_step) {
  auto& steps = edit.steps();
  const ProgramStep& gradient = steps[gradient_step];
  for (size_t k = gradient_step + 1; k < steps.size(); ++k) {
    if (steps[k].op->name != "sgd_update_all" || steps[k].inputs[0] == kNoValue) continue;
    bool all = true;
    for (int value : gradient.outputs)
      all &= edit.mentions(value) == 2 && place_of_gradient(steps[k], value) > 0;
    if (all && !edit.writes_between(gradient_step, k, gradient.inputs)) return int64_t(k);
  }
  return -1;
}

/// The gradient of a linear layer's parameters and their update by SGD: the gradient is never in memory.
bool fuse_linear_sgd(StepEditor& edit) {
  if (is_pinned("linear_weight_gradient") || is_pinned("sgd_update_all")) return false;
  auto& steps = edit.steps();
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].op->name != "linear_weight_gradient") continue;
    int64_t at = sole_update(edit, i);
    if (at < 0) continue;
    ProgramStep& update = steps[size_t(at)];
    const double decay = update.attributes.as<SgdUpdateOptions>().weight_decay;
    ProgramStep fused{&op_named("linear_sgd_update"),
                      Attributes::of(LinearSgdUpdateOptions{decay}),
                      {steps[i].inputs[0], steps[i].inputs[1], update.inputs[0]},
                      {}};
    for (int value : steps[i].outputs) {
      size_t place = place_of_gradient(update, value);
      fused.inputs.push_back(update.inputs[place - 1]);
      fused.outputs.push_back(update.inputs[place - 1]);
      remove_group(update, place);
    }
    if (update.inputs.size() == 1)
      update = std::move(fused);
    else
      steps.insert(steps.begin() + at, std::move(fused));
    steps.erase(steps.begin() + int64_t(i));
    edit.note("linear_weight_gradient + sgd_update_all → linear_sgd_update");
    return true;
  }
  return false;
}

/// A pattern and what it becomes; true when it was found and replaced once.
using StepFusion = bool (*)(StepEditor&);

const StepFusion kStepFusions[] = {
    fuse_cross_entropy,
    fuse_linear_sgd,
};

}  // namespace

void fuse_steps(Program& program, const Recorder& recorder) {
  StepEditor edit(program, recorder);
  for (StepFusion fuse : kStepFusions)
    while (fuse(edit)) {
    }
}

}  // namespace treadle
