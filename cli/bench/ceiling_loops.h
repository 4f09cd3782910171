/// The innermost loops of the ceilings.
#pragma once

#include <cstdint>

namespace treadle::cli {

/// The loops that the ceilings are measured with, for the widest vectors of this machine.
struct CeilingLoops {
  const char* vectors;
  int64_t operations_per_round;
  /// Independent multiply-adds in registers; the result depends on all of them.
  float (*multiply_add)(int64_t rounds);
  /// Reads count floats, a multiple of 256, and folds them together.
  uint32_t (*read)(const float* data, int64_t count);
  void (*write)(float* data, int64_t count, float value);
};
CeilingLoops ceiling_loops();

}  // namespace treadle::cli
