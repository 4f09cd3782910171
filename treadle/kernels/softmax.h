/// The maximum and the sum of exponentials of a row, shared by softmax and cross-entropy.
#pragma once

#include "treadle/kernels/group.h"
#include "treadle/kernels/math.h"

namespace treadle::TREADLE_TARGET {

struct Larger {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a > b ? a : b;
  }
};

/// softmax(x)_i = e^(x_i - largest) / sum. Where the row holds a NaN, `sum` is NaN.
template <class C>
struct SoftmaxScale {
  C largest, sum;
};

template <class C>
__device__ SoftmaxScale<C> exchange_lanes(const SoftmaxScale<C>& scale, int lanes) {
  return {exchange_lanes(scale.largest, lanes), exchange_lanes(scale.sum, lanes)};
}

/// Reads the row twice.
template <class C, class Group, class T>
__device__ SoftmaxScale<C> softmax_scale(const Group& group, const T* x, int64_t length, int64_t stride) {
  C largest = -INFINITY, sum = 0;
  for (int64_t i = group.rank(); i < length; i += group.size())
    largest = Larger()(largest, static_cast<C>(x[i * stride]));
  largest = group.reduce(largest, Larger(), static_cast<C>(-INFINITY));
  for (int64_t i = group.rank(); i < length; i += group.size())
    sum += math::exp(static_cast<C>(x[i * stride]) - largest);
  return {largest, group.reduce(sum, Addition<C>(), C(0))};
}

}  // namespace treadle::TREADLE_TARGET
