#pragma once

#include <cstring>

#include "treadle/core/tensor.h"

namespace treadle {

/// In [-1, 1), from a linear congruential generator.
inline Tensor noise(const Shape& shape, uint32_t state = 7) {
  Tensor tensor = Tensor::zeros(shape);
  for (int64_t i = 0; i < shape.numel(); ++i) {
    state = state * 1664525u + 1013904223u;
    tensor.data<float>()[i] = float(state >> 8) * 0x1p-23f - 1;
  }
  return tensor;
}

/// Of dense tensors of one shape.
inline bool same_bits(const Tensor& a, const Tensor& b) {
  return std::memcmp(a.raw(), b.raw(), size_t(a.numel()) * size_of(a.dtype())) == 0;
}

}  // namespace treadle
