/// Labels on a device. Included by .cu files only.
#pragma once

#include "treadle/ops/data_check.cuh"

namespace treadle::TREADLE_TARGET {

/// One for each sample, of either width.
struct Labels {
  const void* data;
  bool wide;
  int64_t stride, classes;
  DataCheck check;

  /// See DataMistake for `message`.
  static Labels of(const TensorView& labels, int64_t classes, const char* message) {
    return {labels.data, labels.dtype == DType::i64, labels.strides[0], classes, DataCheck(message)};
  }
  /// As it stands in memory.
  __device__ int64_t given(int64_t n) const {
    const int64_t i = n * stride;
    return wide ? static_cast<const int64_t*>(data)[i] : static_cast<const int32_t*>(data)[i];
  }
  /// A label out of range is refused; a kernel that goes on reads -1.
  __device__ int64_t operator[](int64_t n) const { return check.checked(given(n), n, classes); }
};

}  // namespace treadle::TREADLE_TARGET
