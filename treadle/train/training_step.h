/// The usual training step, as a function of a batch.
#pragma once  // public

#include <functional>
#include <span>

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
};

/// Drops gradients, takes those of loss(batch), the mean over examples, and updates. Gives the loss. Throws
/// ValueError for less than one part.
TREADLE_API std::function<Tensor(std::span<const Tensor>)> training_step(
    Optimizer& optimizer, std::function<Tensor(std::span<const Tensor> batch)> loss,
    const StepOptions& options = {});

}  // namespace treadle
