#include "treadle/compile/forward_fusions.h"

#include <algorithm>

#include "treadle/compile/declared_fusions.h"
#include "treadle/compile/differentiate_again.h"
#include "treadle/core/error.h"
#include "treadle/core/log.h"
#include "treadle/graph/op.h"
#include "treadle/graph/registry.h"

namespace treadle {
namespace {

/// A program's results carry no gradient: where it does not call backward(), nobody needs one. Makes the
/// steps what they would be without gradient mode.
void drop_gradients(std::vector<StepRecord>& records) {
  for (StepRecord& record : records) {
    record.gradient_mode = false;
    for (size_t i = 0; i < record.flows.size(); ++i) record.flows[i] = record.flows[i] && record.leaves[i];
  }
}

/// What was recorded, without the steps that backward() derives.
RecordedGraph forward_part(const Recorder& recorded, const FunctionValues& values) {
  RecordedGraph graph = recorded.recorded();
  bool differentiates = false;
  for (size_t i = graph.steps.size(); i-- > 0;) {
    differentiates |= graph.is_backward(i);
    if (graph.records[i].derived) graph.erase(i);
  }
  if (!differentiates) drop_gradients(graph.records);
  for (const auto* kept : {&values.results, &values.gradients})
    for (int value : *kept)
      if (value != kNoValue) graph.steps.hand_out(value);
  return graph;
}

std::vector<std::string> fuse_chains(RecordedGraph& graph) {
  std::vector<StepFusion> fusions;
  for (const ChainFusion& fusion : registry().chain_fusions())
    fusions.push_back(as_step_fusion(fusion, graph));
  return apply_fusions(fusions, graph.steps);
}

}  // namespace

FusedRecording fuse_forward(const Recorder& recorded, const FunctionValues& values) {
  RecordedGraph graph = forward_part(recorded, values);
  FusedRecording fused;
  fused.applied = fuse_chains(graph);
  if (fused.applied.empty()) return fused;
  try {
    auto recorder = std::make_unique<Recorder>(false);
    DifferentiateAgain again(recorded, *recorder);
    again.run(graph);
    for (int value : values.results) fused.values.results.push_back(recorder->value_of(again.tensor(value)));
    for (int value : values.gradients)
      fused.values.gradients.push_back(recorder->value_of(again.tensor(value)));
    fused.recorder = std::move(recorder);
  } catch (const Error& reason) {
    log_once(LogLevel::warning, fmt::format("a compiled function keeps its ops unfused: {}", reason.what()));
    return {};
  }
  return fused;
}

}  // namespace treadle
