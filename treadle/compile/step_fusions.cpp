#include "treadle/compile/step_fusions.h"

#include "treadle/compile/early_updates.h"
#include "treadle/compile/linear_fusions.h"
#include "treadle/compile/step_editor.h"
#include "treadle/graph/registry.h"

namespace treadle {
namespace {

bool same_options(const ProgramStep& a, const ProgramStep& b) {
  const OptionsSchema* schema = a.op->options;
  return !schema || schema->describe(a.attributes) == schema->describe(b.attributes);
}

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

/// A pattern and what it becomes; true when it was found and replaced once.
using StepFusion = bool (*)(StepEditor&);

const StepFusion kStepFusions[] = {
    fuse_cross_entropy,
    fuse_linear_sgd,
    fuse_linear_input_gradient,
};

}  // namespace

void fuse_steps(Program& program, const Recorder& recorder) {
  StepEditor edit(program, recorder);
  for (StepFusion fuse : kStepFusions)
    while (fuse(edit)) {
    }
  move_updates_early(program);
}

}  // namespace treadle
