/// Into how many pieces a reduction of few results is cut, so that a GPU has enough blocks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "treadle/simt/target.h"

namespace treadle::TREADLE_TARGET {

inline constexpr int64_t kWantedBlocks = 512;  ///< enough for every card
inline constexpr int64_t kMaxSplits = 256;     ///< pieces of one output's elements

/// Pieces per output such that there are enough blocks, each with at least a few rounds of work for its
/// threads.
inline int64_t splits_for(int64_t blocks, int64_t reduced, int64_t elements_per_round) {
  const int64_t wanted = kWantedBlocks / blocks, possible = reduced / (4 * elements_per_round);
  return std::max<int64_t>(1, std::min({wanted, possible, kMaxSplits}));
}

}  // namespace treadle::TREADLE_TARGET
