/// Checks of values that only a kernel sees, such as indices. Included by .cu files only.
#pragma once

#include "treadle/core/data_mistake.h"
#include "treadle/ops/device_variant.h"

namespace treadle::cuda {
/// Of the current device; the device's runtime looks into it when it waits.
DataMistake* data_mistake();
}  // namespace treadle::cuda

namespace treadle::TREADLE_TARGET {

/// A kernel's parameter that knows what to say about a value out of range.
class DataCheck {
 public:
  /// See DataMistake for `message`, which must stay.
  explicit DataCheck(const char* message) : message_(message) {
#if TREADLE_TARGET_IS_CUDA
    mistake_ = cuda::data_mistake();
#endif
  }

  /// `value`, which is at `position` of the data, where it lies in [0, bound). Where not, the executor throws
  /// ValueError at once; on a GPU the first such value is noted and the result is -1.
  __device__ int64_t checked(int64_t value, int64_t position, int64_t bound) const {
    if (value >= 0 && value < bound) return value;
    take_note(value, position, bound);
    return -1;
  }

 private:
#if TREADLE_TARGET_IS_CUDA
  __device__ void take_note(int64_t value, int64_t position, int64_t bound) const {
    if (atomicCAS(&mistake_->state, DataMistake::none, DataMistake::being_noted) != DataMistake::none) return;
    mistake_->message = message_;
    mistake_->value = value, mistake_->position = position, mistake_->bound = bound;
    __threadfence_system();
    atomicExch(&mistake_->state, DataMistake::noted);
  }

  DataMistake* mistake_;
#else
  [[noreturn]] void take_note(int64_t value, int64_t position, int64_t bound) const {
    throw_data_mistake(message_, value, position, bound);
  }
#endif
  const char* message_;
};

}  // namespace treadle::TREADLE_TARGET
