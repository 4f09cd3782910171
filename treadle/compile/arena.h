/// Places in a program's arena.
#pragma once

#include <cstddef>
#include <vector>

#include "treadle/compile/program.h"

namespace treadle {

/// Every place begins at a multiple of a cache line.
constexpr size_t arena_aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

/// The lowest offset at which `bytes` lie over none of the `placed` buffers, given by rising offset, that are
/// alive in a step of [first, last].
size_t lowest_place(const std::vector<const ProgramBuffer*>& placed, int first, int last, size_t bytes);

/// Gives every arena buffer an offset such that buffers alive at the same time do not overlap; returns the
/// bytes of the arena. Largest first, each at the lowest place that is free.
size_t plan_arena(std::vector<ProgramBuffer>& buffers);

/// The arena's buffers by rising offset.
std::vector<const ProgramBuffer*> placed_buffers(const std::vector<ProgramBuffer>& buffers);

}  // namespace treadle
