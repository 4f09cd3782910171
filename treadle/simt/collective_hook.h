/// What the executor tells of a collective, beside hooks.h, which many include.
#pragma once

#include "treadle/simt/executor_calls.h"

namespace treadle::TREADLE_TARGET::hooks {

/// The lanes of a warp have met to be combined by a function.
#if defined(TREADLE_SIMT_CHECK)
void combined(WarpCombine* combine, Site site);
#else
inline void combined(WarpCombine*, Site) {}
#endif

}  // namespace treadle::TREADLE_TARGET::hooks
