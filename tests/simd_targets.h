#pragma once

#include <cstdint>
#include <vector>

#include "treadle/simd/dispatch.h"

namespace treadle {

/// One bit for each instruction set that the sources are compiled for and this processor has.
inline std::vector<int64_t> simd_targets() {
  std::vector<int64_t> list;
  for (int64_t rest = cpu::compiled_targets(); rest != 0; rest &= rest - 1) list.push_back(rest & -rest);
  return list;
}

}  // namespace treadle
