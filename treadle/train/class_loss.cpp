#include "treadle/train/class_loss.h"

#include "treadle/ops/layout/views.h"
#include "treadle/ops/loss/cross_entropy.h"

namespace treadle {

Tensor class_loss(const Tensor& logits, const Tensor& labels) {
  if (logits.rank() <= 2) return cross_entropy(logits, labels);
  const int64_t classes = logits.size(logits.rank() - 1);
  return cross_entropy(reshape(logits, {labels.numel(), classes}), reshape(labels, {labels.numel()}));
}

}  // namespace treadle
