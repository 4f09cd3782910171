/// For code that kernels call and that holds locks or changes what others share.
#pragma once

#include <atomic>

#include "treadle/simt/built_ins.h"

namespace treadle::TREADLE_TARGET {

/// While one lives, no handler of a signal takes the calling thread away from the code around it.
class Uninterrupted {
 public:
  Uninterrupted() {
    ++uninterrupted;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Uninterrupted() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    --uninterrupted;
  }
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;
};

}  // namespace treadle::TREADLE_TARGET
