/// Fusions that ops declare, applied to a graph of steps.
#pragma once

#include <string>
#include <vector>

#include "treadle/compile/recorder.h"
#include "treadle/graph/fusion.h"

namespace treadle {

/// Applies the fusions in their order, each as often as it fits, and says what was done. A fusion of which
/// the user names a variant is left out.
std::vector<std::string> apply_fusions(const std::vector<StepFusion>& fusions, StepGraph& graph);

/// A fusion of forward ops as one of the graph's steps: it looks at the same graph, and at where gradients
/// flow, and keeps the records in step with it. `graph` is the one that it is applied to.
StepFusion as_step_fusion(const ChainFusion& fusion, RecordedGraph& graph);

}  // namespace treadle
