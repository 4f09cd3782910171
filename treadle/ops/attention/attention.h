/// Attention: means of values, weighted by how queries and keys agree.
#pragma once  // public

#include "treadle/core/tensor.h"
#include "treadle/ops/attention/attention_options.h"

namespace treadle {

struct AttentionResult {
  Tensor y;        ///< [..., L, D]
  Tensor weights;  ///< [..., L, S]: rows that sum to 1
};

/// weights = softmax(scale · q·kᵀ + mask), y = weights·v. q [..., L, E], k [..., S, E], v [..., S, D], with
/// the same axes before; mask [..., L, S], broadcast, or none, is added to the scores: -∞ hides a key; one of
/// bool says which keys are seen. With `causal` query i sees the keys 0 to i alone. A query that sees no key
/// gets NaN. Vaswani et al., Attention Is All You Need, 2017. Half types are computed in f32. The weights are
/// kept for the gradient: L·S for each q. Throws ShapeError naming both shapes, DTypeError, ValueError for a
/// scale that is negative or not finite.
TREADLE_API AttentionResult scaled_dot_product_attention_with_weights(const Tensor& q, const Tensor& k,
                                                                      const Tensor& v,
                                                                      const Tensor& mask = {},
                                                                      const AttentionOptions& options = {});

/// y alone.
TREADLE_API Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                                const Tensor& mask = {},
                                                const AttentionOptions& options = {});

}  // namespace treadle
