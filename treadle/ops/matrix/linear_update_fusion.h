/// The fusion of a linear layer's weight gradient with its update, for any rule.
#pragma once

#include <functional>

#include "treadle/graph/fusion.h"

namespace treadle {

/// Fuses linear_weight_gradient and `update_all` to `fused`, whose options are made of the update's.
StepFusion linear_update_fusion(OpHandle update_all, OpHandle fused,
                                std::function<Attributes(const Attributes& of_update)> options);

}  // namespace treadle
