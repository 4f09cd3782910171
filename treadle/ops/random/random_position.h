/// Where a random op reads its generator's sequence: in its options, or in an operand that changes between
/// the replays of a program.
#pragma once

#include "treadle/core/random.h"
#include "treadle/graph/spec.h"
#include "treadle/kernels/random_functions.h"

namespace treadle {

/// The numbers that RandomPosition::read() takes.
inline constexpr int64_t kPositionNumbers = 4;

/// Throws ShapeError unless the operand holds a position; it replaces the seed and offset of the options.
void require_position(const TensorSpec& position);

/// Sets as many numbers aside as x has elements. The operand in a program that goes on in the default
/// generator's sequence; otherwise undefined, and `f` has the position.
Tensor take_position(RandomPosition& f, const Tensor& x, Generator& generator);

}  // namespace treadle
