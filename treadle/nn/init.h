/// Initialisation of parameters.
#pragma once  // public

#include "treadle/core/random.h"
#include "treadle/core/tensor.h"

namespace treadle {

/// Fills with U(-b, b), b = 1/√fan_in: PyTorch's default for weights (Kaiming uniform with a = √5; He et al.,
/// 2015) and for biases of linear and convolution layers.
TREADLE_API void init_uniform_fan_in(const Tensor& parameter, int64_t fan_in, Generator& generator);

}  // namespace treadle
