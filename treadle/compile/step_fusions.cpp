#include "treadle/compile/step_fusions.h"

#include <algorithm>

#include "treadle/compile/early_updates.h"
#include "treadle/compile/step_editor.h"
#include "treadle/graph/registry.h"

namespace treadle {
namespace {

bool is_ruled_out(const StepFusion& fusion) {
  return std::any_of(fusion.ops.begin(), fusion.ops.end(),
                     [](const OpHandle& op) { return is_pinned(op()); });
}

/// Applies the fusion where it fits first; false where it fits nowhere.
bool apply_once(const StepFusion& fusion, StepEditor& graph, std::vector<std::string>& applied) {
  const Op& first = fusion.ops.front()();
  for (size_t at = 0; at < graph.size(); ++at) {
    if (graph[at].op != &first) continue;
    if (auto what = fusion.fuse(graph, at)) {
      applied.push_back(*what);
      return true;
    }
  }
  return false;
}

/// Each may make room for another; the first that fits anywhere is taken, hence the last ones when no other does.
bool apply_any(StepEditor& graph, std::vector<std::string>& applied) {
  for (const StepFusion& fusion : registry().step_fusions())
    if (!is_ruled_out(fusion) && apply_once(fusion, graph, applied)) return true;
  return false;
}

}  // namespace

void fuse_steps(Program& program, const Recorder& recorder) {
  StepEditor graph(program, recorder);
  while (apply_any(graph, program.fusions)) {
  }
  move_updates_early(program);
}

}  // namespace treadle
