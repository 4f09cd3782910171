/// Step fusions around the gradients of linear layers.
#pragma once

#include "treadle/compile/step_editor.h"

namespace treadle {

/// linear_weight_gradient + sgd_update_all → linear_sgd_update: the gradient is never in memory. True when it
/// was found and replaced once.
bool fuse_linear_sgd(StepEditor& edit);

/// matmul, whose result is kept only where a ReLU was open, → linear_input_gradient. The reader that drops
/// the rest is a relu_gradient, which goes, or the gradients of conv2d_max_pool2d, which stay. True when it
/// was found and replaced once.
bool fuse_linear_input_gradient(StepEditor& edit);

}  // namespace treadle
