/// Batch normalisation with the residual that is added to it, and with the ReLU behind.
#include "treadle/graph/registry.h"
#include "treadle/ops/norm/batch_norm.h"
#include "treadle/ops/pointwise/pointwise.h"

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

}  // namespace

namespace ops {

void register_batch_norm_fusions(Registry& registry) {
  add(registry, batch_norm_op, 3, true);
  add(registry, batch_norm_inference_op, 5, false);
}

}  // namespace ops
}  // namespace treadle
