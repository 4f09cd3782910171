#include "treadle/compile/early_updates.h"

#include <algorithm>

#include "treadle/graph/op.h"

namespace treadle {
namespace {

/// Floats are taken as they come; labels and positions are checked.
bool may_fail(const StepGraph& graph, const Step& step) {
  return std::any_of(step.inputs.begin(), step.inputs.end(), [&](int value) {
    if (value == kNoValue) return false;
    const DType dtype = graph.spec(value).dtype;
    return dtype == DType::i32 || dtype == DType::i64;
  });
}

/// The last step before `at` that makes what it reads, or mentions what it makes or writes; -1 when there is
/// none.
int64_t last_conflict(const StepGraph& graph, size_t at) {
  int64_t last = -1;
  for (int value : graph[at].inputs) last = std::max(last, graph.last_write(value, at));
  for (int value : graph[at].outputs) last = std::max(last, graph.last_mention(value, at));
  for (int value : mutated_values(graph[at])) last = std::max(last, graph.last_mention(value, at));
  return last;
}

bool is_update(const Step& step) { return !step.op->mutates.empty(); }

/// Behind updates that stand there already: each follows the step that it had to wait for.
size_t place_of(const StepGraph& graph, size_t update) {
  const auto earliest = size_t(last_conflict(graph, update) + 1);
  size_t place = update;
  while (place > earliest && !may_fail(graph, graph[place - 1])) --place;
  while (place < update && is_update(graph[place])) ++place;
  return place;
}

}  // namespace

void move_updates_early(StepGraph& graph) {
  for (size_t i = 0; i < graph.size(); ++i)
    if (is_update(graph[i])) graph.move(i, place_of(graph, i));
}

}  // namespace treadle
