/// The gradient of each parameter of a linear layer by one thread, for whatever is done with it.
#pragma once

#include "treadle/ops/device_variant.h"
#include "treadle/ops/matrix/linear_update_operands.h"

namespace treadle::TREADLE_TARGET {

/// An output and an input of the layer: a place in w.
struct Place {
  int64_t o, i;
};

/// The place of a thread's parameter; threads of a warp follow the shorter stride of w.
template <int K>
__device__ inline Place place_of(const LinearUpdateOperands<K>& p, int64_t index) {
  if (p.w.row[0] < p.w.column[0]) return {index % p.out, index / p.out};
  const int64_t columns = p.in + (p.b.defined() ? 1 : 0);
  return {index / columns, index % columns};
}

template <int K>
__host__ __device__ inline int64_t parameters(const LinearUpdateOperands<K>& p) {
  return p.out * (p.in + (p.b.defined() ? 1 : 0));
}

/// Column `in` of the gradient stands for the bias.
template <class T, int K>
__device__ Compute<T> parameter_gradient(const LinearUpdateOperands<K>& p, int64_t o, int64_t i) {
  Compute<T> sum = 0;
  for (int64_t n = 0; n < p.N; ++n) {
    const auto dy = static_cast<Compute<T>>(p.template dy_at<T>(n, o));
    sum += i == p.in ? dy : dy * static_cast<Compute<T>>(p.template x_at<T>(n, i));
  }
  return sum;
}

/// What a place in w belongs to, column `in` to the bias.
template <int K>
__device__ const ParameterOperands<K>& parameter_of(const LinearUpdateOperands<K>& p, int64_t i) {
  return i == p.in ? p.b : p.w;
}

}  // namespace treadle::TREADLE_TARGET
