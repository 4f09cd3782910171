/// Where a checker can listen: calls at every event of the executor. They are nothing unless
/// TREADLE_SIMT_CHECK is defined, which makes them functions that the checker supplies.
#pragma once

#include "treadle/simt/executor_calls.h"

namespace treadle::TREADLE_TARGET::hooks {

#if defined(TREADLE_SIMT_CHECK)
#define TREADLE_HOOK(signature) void signature;
#else
#define TREADLE_HOOK(signature) \
  inline void signature {}
#endif

/// `arguments` is the range that holds the kernel's parameters.
TREADLE_HOOK(grid_begin(const char* /*kernel*/, dim3 /*grid*/, dim3 /*block*/, const void* /*arguments*/,
                        size_t /*bytes*/))
TREADLE_HOOK(grid_end())
TREADLE_HOOK(block_begin(unsigned /*block*/, unsigned /*threads*/, void* /*dynamic_shared*/,
                         size_t /*bytes*/))
TREADLE_HOOK(block_end())
/// From now on `thread` (its number within the block) runs.
TREADLE_HOOK(thread_switch(unsigned /*thread*/))
TREADLE_HOOK(thread_end(unsigned /*thread*/))
/// A block barrier opens; `exited` threads had returned without reaching it.
TREADLE_HOOK(block_barrier(Site, unsigned /*exited*/))
/// All lanes of `mask` that have not returned have met; `is_sync` for __syncwarp, which alone orders memory.
TREADLE_HOOK(warp_collective(unsigned /*warp*/, unsigned /*mask*/, bool /*is_sync*/, Site))
/// Two threads wait for each other at different places.
TREADLE_HOOK(divergence(unsigned /*thread*/, Site, unsigned /*other_thread*/, Site))
/// A mask that does not name the calling lane.
TREADLE_HOOK(bad_mask(unsigned /*mask*/, Site))
TREADLE_HOOK(atomic_access(const void* /*address*/, size_t /*bytes*/, Site))
TREADLE_HOOK(fence(Site))

#undef TREADLE_HOOK

}  // namespace treadle::TREADLE_TARGET::hooks
