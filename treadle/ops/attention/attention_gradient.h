/// The gradient of attention as an op of its own.
#pragma once

#include "treadle/core/tensor.h"
#include "treadle/ops/attention/attention_options.h"

namespace treadle {

struct AttentionGradients {
  Tensor q, k, v;
};

/// Of y = weights·v with weights = softmax(scale · q·kᵀ + mask), from dy [..., L, D]: dv = weightsᵀ·dy and,
/// with ds = weights·(dy·vᵀ - Σ weights·(dy·vᵀ)) in each row, dq = scale · ds·k, dk = scale · dsᵀ·q. The mask
/// and `causal` are in the weights.
AttentionGradients attention_gradient(const Tensor& q, const Tensor& k, const Tensor& v,
                                      const Tensor& weights, const Tensor& dy,
                                      const AttentionOptions& options);

}  // namespace treadle
