#pragma once

#include "treadle/ops/layout/copy.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"

namespace treadle {

/// Uniform in [-0.5, 0.5), the same on every device.
inline Tensor random_tensor(const Shape& shape, uint64_t seed, Device device = kCpu,
                            DType dtype = DType::f32) {
  Generator generator(seed);
  return to(rand(shape, dtype, kCpu, generator) - 0.5, device);
}

}  // namespace treadle
