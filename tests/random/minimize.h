/// Makes a failing program small.
#pragma once

#include <functional>

#include "tests/random/program.h"

namespace treadle::random_programs {

/// Drops steps and leaves, greedily, as long as the program is well conditioned and still fails.
Program minimized(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace treadle::random_programs
