#include "treadle/train/classification/classifier_loss.h"

#include "treadle/ops/loss/cross_entropy.h"

namespace treadle {

std::function<Tensor(std::span<const Tensor>)> classifier_loss(Module& model, double label_smoothing) {
  return [&model, label_smoothing](std::span<const Tensor> batch) {
    const Tensor logits = model(batch[0]);
    const bool are_labels = batch[1].shape().rank() == 1;
    if (are_labels && label_smoothing == 0) return cross_entropy(logits, batch[1]);  // the fused form
    return cross_entropy(logits, batch[1], {.label_smoothing = label_smoothing});
  };
}

}  // namespace treadle
