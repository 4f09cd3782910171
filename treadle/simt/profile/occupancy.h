/// How many threads an SM has room for.
#pragma once

#include <string>

#include "treadle/core/export.h"
#include "treadle/simt/profile/cards.h"

namespace treadle::simt {

/// What a block takes.
struct TREADLE_API BlockNeeds {
  unsigned threads = 0;
  unsigned shared_bytes = 0;
  unsigned registers = 0;  ///< of a thread; 0: unknown
};

struct TREADLE_API Occupancy {
  unsigned blocks = 0;  ///< that an SM holds at once; 0: not even one
  unsigned warps = 0, most_warps = 0;
  std::string limit;  ///< "threads", "blocks", "shared memory" or "registers"

  double share() const { return most_warps == 0 ? 0 : double(warps) / most_warps; }
};

/// By the rules of NVIDIA's occupancy calculator: warps are whole, registers are given to a warp in units of
/// 256 and to each quarter of an SM apart, shared memory in units of 128 bytes.
TREADLE_API Occupancy occupancy_on(const Card& card, const BlockNeeds& needs);

}  // namespace treadle::simt
