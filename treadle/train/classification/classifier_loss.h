/// What a classifier is trained by.
#pragma once  // public

#include <functional>
#include <span>

#include "treadle/core/export.h"
#include "treadle/nn/module.h"

namespace treadle {

/// The cross-entropy of the model's logits, mean over a batch of examples and targets: labels i64 [B], or
/// probabilities f32 [B, classes] as augmentations that mix give them. So much of each target as
/// `label_smoothing` says is spread over all classes, see CrossEntropyOptions. The model must outlive it.
TREADLE_API std::function<Tensor(std::span<const Tensor> batch)> classifier_loss(Module& model,
                                                                                 double label_smoothing = 0);

}  // namespace treadle
