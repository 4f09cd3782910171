/// What Highway's kernels are dispatched to.
#pragma once

namespace treadle::cpu {

/// Keeps Highway to simd_limit(). Called when the ops are registered, before the first kernel runs.
void limit_dispatch();

}  // namespace treadle::cpu
