/// How sparse the gradient is that reaches the convolutions below max-pooling.
#pragma once

#include <vector>

#include "treadle/nn/module.h"
#include "treadle/train/classification/evaluate.h"

namespace treadle::cli {

/// For each max-pooling layer of a network whose layers run one after another, from input to output: the
/// share of pooled values through which gradient flows on. The gradient there is not zero, and a ReLU just
/// before the pooling is open. This density decides how fast a sparse gradient is. Empty for other networks.
std::vector<double> pooled_gradient_density(Module& model, const Batch& batch);

}  // namespace treadle::cli
