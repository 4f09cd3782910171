/// Strided<N>: one loop nest over N operands of the same logical shape, axes merged where all operands allow
/// it.
#pragma once

#include <cstdint>

#include "treadle/simt/function_qualifiers.h"

namespace treadle {

/// Extents outermost first; strides in elements. `rank` is at least 1. Plain data: passed to kernels by
/// value.
template <int N>
struct Strided {
  static constexpr int kMaxAxes = 8;

  int rank;
  int64_t numel;
  int64_t shape[kMaxAxes];
  int64_t strides[N][kMaxAxes];

  /// Element offsets of the operands at position `linear` of the nest.
  TREADLE_DEVICE void offsets(int64_t linear, int64_t (&result)[N]) const {
    for (int k = 0; k < N; ++k) result[k] = 0;
    // 32-bit division is several times cheaper on a GPU, and nearly every tensor fits.
    if (numel <= INT32_MAX) {
      uint32_t rest = uint32_t(linear);
      for (int axis = rank - 1; axis >= 0; --axis) {
        uint32_t extent = uint32_t(shape[axis]), quotient = rest / extent,
                 position = rest - quotient * extent;
        for (int k = 0; k < N; ++k) result[k] += position * strides[k][axis];
        rest = quotient;
      }
      return;
    }
    for (int axis = rank - 1; axis >= 0; --axis) {
      int64_t quotient = linear / shape[axis], position = linear - quotient * shape[axis];
      for (int k = 0; k < N; ++k) result[k] += position * strides[k][axis];
      linear = quotient;
    }
  }
};

}  // namespace treadle
