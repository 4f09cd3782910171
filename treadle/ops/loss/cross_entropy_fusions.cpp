/// cross_entropy and its gradient for an upstream of one, in one pass.
#include "treadle/graph/registry.h"
#include "treadle/ops/loss/cross_entropy.h"

namespace treadle {
namespace {

const Op& loss_op() { return op_named("cross_entropy"); }
const Op& gradient_op() { return op_named("cross_entropy_gradient"); }

/// Whether step k is the gradient of the loss made by step `at`, given one.
bool is_its_gradient(const StepGraph& graph, size_t at, size_t k) {
  const Step &loss = graph[at], &gradient = graph[k];
  return gradient.op == &gradient_op() && gradient.inputs[0] == loss.outputs[1] &&
         gradient.inputs[1] == loss.inputs[1] && graph.is_ones(gradient.inputs[2]) &&
         same_options(loss, gradient) && !graph.writes_between(at, k, loss.inputs);
}

std::optional<std::string> fuse(StepGraph& graph, size_t at) {
  if (graph.mentions(graph[at].outputs[1]) != 2) return {};
  for (size_t k = at + 1; k < graph.size(); ++k) {
    if (!is_its_gradient(graph, at, k)) continue;
    Step both = graph[at];
    both.op = &op_named("cross_entropy_with_gradient");
    both.outputs[1] = graph[k].outputs[0];
    graph.replace(at, std::move(both));
    graph.erase(k);
    return "cross_entropy + cross_entropy_gradient → cross_entropy_with_gradient";
  }
  return {};
}

}  // namespace

namespace ops {

void register_cross_entropy_fusions(Registry& registry) {
  registry.add_fusion(StepFusion{{loss_op, gradient_op}, fuse});
}

}  // namespace ops
}  // namespace treadle
