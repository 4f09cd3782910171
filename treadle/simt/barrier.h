/// Block barriers. A thread that has returned is not waited for.
#pragma once

#include "treadle/simt/executor_calls.h"

namespace treadle::TREADLE_TARGET {

inline void __syncthreads(Site site = Site::current()) { sync_block(site); }

inline int __syncthreads_count(int predicate, Site site = Site::current()) {
  return static_cast<int>(meet_block(BlockBarrier::count, predicate != 0, site));
}

inline int __syncthreads_and(int predicate, Site site = Site::current()) {
  return static_cast<int>(meet_block(BlockBarrier::all, predicate != 0, site));
}

inline int __syncthreads_or(int predicate, Site site = Site::current()) {
  return static_cast<int>(meet_block(BlockBarrier::any, predicate != 0, site));
}

/// Lets other threads run, as sleeping does.
inline void __nanosleep(unsigned, Site site = Site::current()) { let_others_run(site); }

}  // namespace treadle::TREADLE_TARGET
