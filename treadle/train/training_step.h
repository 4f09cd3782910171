/// The usual training step, as a function of a batch.
#pragma once  // public

#include <functional>
#include <span>

#include "treadle/optim/loss_scaler.h"
#include "treadle/optim/optimizer.h"
#include "treadle/optim/weight_average.h"

namespace treadle {

/// What a step does beside gradients and update.
struct StepOptions {
  /// The batch is cut into so many parts along the first axis, whose gradients are added up: memory for one
  /// part at a time, and the result of the whole batch but for rounding, unless the model looks across
  /// examples.
  int64_t parts = 1;
  double clip_norm = 0;              ///< bound of the gradients' norm, see clip_gradients.h; 0: none
  WeightAverage* average = nullptr;  ///< updated after the step; must outlive it
  DType precision = DType::f32;      ///< of the loss: bf16 or f16 under Autocast
  /// Scales the loss; clipping sees unscaled gradients. What it leaves out changes the average neither. It
  /// must outlive the step. f16 needs one.
  LossScaler* scaler = nullptr;
};

/// Drops gradients, takes those of loss(batch), the mean over examples, and updates. Gives the loss. Throws
/// ValueError for less than one part, DTypeError for a precision that Autocast does not have.
TREADLE_API std::function<Tensor(std::span<const Tensor>)> training_step(
    Optimizer& optimizer, std::function<Tensor(std::span<const Tensor> batch)> loss,
    const StepOptions& options = {});

}  // namespace treadle
