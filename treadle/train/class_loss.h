/// The loss of what tells classes, at one or many places of an example.
#pragma once  // public

#include "treadle/core/tensor.h"

namespace treadle {

/// Mean cross-entropy of logits [..., K] with labels [...] of i64, over all places: of images [N, K] and [N],
/// of texts [N, T, K] and [N, T]. Throws what cross_entropy() throws.
TREADLE_API Tensor class_loss(const Tensor& logits, const Tensor& labels);

}  // namespace treadle
