/// Numbers for the stretches between a block's barriers, over all blocks and launches: they rise with time,
/// and each belongs to one block.
#pragma once

#include <cstdint>

namespace treadle::checker {

struct EpochOwner {
  uint32_t first_epoch;  ///< the block's, which no other has
  uint32_t block;        ///< its number in the grid
};

/// Once, before anything else here.
void prepare_epochs();

/// At the launch of a grid: no earlier access matters any more.
void begin_launch_epochs();
/// The first epoch that matters.
uint32_t launch_epoch();

/// The next epoch of a block; 0 for `first_epoch`: its first.
uint32_t next_epoch(uint64_t block, uint32_t first_epoch);
EpochOwner owner_of(uint32_t epoch);

/// All blocks of the grid have met: each comes here once for each barrier, and nothing before it matters.
void pass_grid_epoch();

}  // namespace treadle::checker
