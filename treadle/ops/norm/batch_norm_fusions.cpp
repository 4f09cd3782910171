/// Batch normalisation with the residual that is added to it, and with the ReLU behind; its gradient with the
/// sum that a bias before it gets.
#include <algorithm>

#include "treadle/graph/registry.h"
#include "treadle/ops/norm/batch_norm.h"
#include "treadle/ops/norm/batch_norm_gradient.h"
#include "treadle/ops/norm/channels.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/reduce/reduce_options.h"

namespace treadle {
namespace {

using Handle = const Op& (*)();

/// Whether something was added before, as the first step's operand `residual`. What ReLU made is left alone.
std::optional<FusedCall> with_residual(Handle op, int residual, const MatchedChain& chain) {
  const auto& options = chain.options<BatchNormOptions>(0);
  const TensorSpec &y = chain.result, &added = chain.further[0];
  const bool alike = added.shape == y.shape && added.strides == y.strides && added.dtype == y.dtype;
  if (options.relu || chain.operands > residual || !alike) return {};
  return FusedCall{&op(), *chain.attributes[0], residual};
}

std::optional<FusedCall> with_relu(Handle op, const MatchedChain& chain) {
  BatchNormOptions options = chain.options<BatchNormOptions>(0);
  if (options.relu) return {};
  options.relu = true;
  return FusedCall{&op(), Attributes::of(options)};
}

void add(Registry& registry, Handle op, int residual, bool keeps_outputs) {
  registry.add_fusion(
      ChainFusion{{op, add_op},
                  [op, residual](const MatchedChain& chain) { return with_residual(op, residual, chain); },
                  keeps_outputs,
                  true});
  registry.add_fusion(ChainFusion{
      {op, relu_op}, [op](const MatchedChain& chain) { return with_relu(op, chain); }, keeps_outputs});
}

/// Whether the step adds up all of dx, the value as it is, for each channel.
bool sums_channels(const StepGraph& graph, const Step& step, int dx) {
  if (step.op != &sum_op() || step.inputs[0] != dx) return false;
  const auto& options = step.attributes.as<ReduceOptions>();
  const Shape& shape = graph.spec(dx).shape;
  Dims axes;
  for (int64_t axis : options.axes) axes.push_back(axis < 0 ? axis + shape.rank() : axis);
  std::sort(axes.begin(), axes.end());
  return !options.keep_axes && axes == axes_but_channels(shape);
}

/// The sum is made earlier than before: nothing may have used its memory, nor have changed dx.
std::optional<std::string> fuse_sum(StepGraph& graph, size_t at) {
  Step fused = graph[at];
  auto options = fused.attributes.as<BatchNormGradientOptions>();
  if (options.sum) return {};
  for (size_t reader : graph.readers(fused.outputs[0])) {
    const Step& step = graph[reader];
    if (reader < at || !sums_channels(graph, step, fused.outputs[0])) continue;
    if (graph.writes_between(at + 1, reader, {fused.outputs[0]}) ||
        graph.last_mention(step.outputs[0], reader) >= 0)
      continue;
    options.sum = true;
    fused.attributes = Attributes::of(options);
    fused.outputs.push_back(step.outputs[0]);
    graph.erase(reader);
    graph.replace(at, std::move(fused));
    return "batch_norm_gradient + sum → batch_norm_gradient";
  }
  return {};
}

}  // namespace

namespace ops {

void register_batch_norm_fusions(Registry& registry) {
  add(registry, batch_norm_op, 3, true);
  add(registry, batch_norm_inference_op, 5, false);
  registry.add_fusion(StepFusion{{batch_norm_gradient_op, sum_op}, fuse_sum});
}

}  // namespace ops
}  // namespace treadle
