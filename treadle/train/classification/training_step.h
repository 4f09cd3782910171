/// TrainingStep: one step of a classifier as a function of a batch.
#pragma once

#include "treadle/nn/module.h"
#include "treadle/optim/optimizer.h"
#include "treadle/train/class_loss.h"

namespace treadle {

/// Forward pass, gradients and update; returns the cross-entropy, mean over the batch. Model and optimizer
/// must outlive it.
struct TrainingStep {
  Module& model;
  Optimizer& optimizer;
  Tensor operator()(const Tensor& images, const Tensor& labels) const {
    optimizer.zero_grad();
    Tensor loss = class_loss(model(images), labels);
    loss.backward();
    optimizer.step();
    return loss;
  }
};

}  // namespace treadle
