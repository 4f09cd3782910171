/// Makes a program of a seed, the same everywhere.
#pragma once

#include "tests/random/program.h"

namespace treadle::random_programs {

/// Ops, views, broadcasts, reductions, convolutions and losses over tensors of all ranks to 4, some with
/// extents of 1 and 0. Its values in f64 are finite and of moderate size, and keep a distance from places
/// without a derivative that rounding does not bridge.
Program generate(uint64_t seed);

/// Whether the program's values, gradients and kinks are as above: what a program must still be when steps
/// are taken out of it. Throws what its ops throw.
bool is_well_conditioned(const Program& program);

}  // namespace treadle::random_programs
