/// Steps whose results nobody needs.
#pragma once

#include "treadle/graph/step_graph.h"

namespace treadle {

/// Erases the steps that make and write nothing that the caller, or a step that stays, has a use for.
void remove_dead_steps(StepGraph& graph);

}  // namespace treadle
