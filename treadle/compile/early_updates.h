/// Updates in place as soon as nobody reads what was there before.
#pragma once

#include "treadle/graph/step_graph.h"

namespace treadle {

/// Moves each step that updates in place directly behind the last step that it has to wait for: one that
/// makes an operand or reads what it updates. The parameters are still in the cache then.
///
/// A replay that fails before its first update leaves everything as it was, so updates stay behind every step
/// that may fail for the numbers it is given: one with labels or positions as an operand. An argument is
/// taken to share no memory with the parameters that the program updates.
void move_updates_early(StepGraph& graph);

}  // namespace treadle
