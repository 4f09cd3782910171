/// What Highway's kernels are dispatched to.
#pragma once

#include <cstdint>

namespace treadle::cpu {

/// Keeps Highway to simd_limit(). Called when the ops are registered, before the first kernel runs.
void limit_dispatch();

/// A bit for each instruction set that the sources are compiled for and this processor has, as Highway names
/// them.
int64_t compiled_targets();

}  // namespace treadle::cpu
