/// The logarithm of a softmax is log_softmax, which no small exponential makes -∞.
#include "treadle/graph/registry.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/softmax/softmax.h"

namespace treadle {
namespace {

std::optional<FusedCall> fuse(const MatchedChain& chain) {
  return FusedCall{&op_named("log_softmax"), *chain.attributes[0]};
}

}  // namespace

namespace ops {

void register_softmax_fusions(Registry& registry) {
  registry.add_fusion(ChainFusion{{softmax_op, log_op}, fuse});
}

}  // namespace ops
}  // namespace treadle
