/// Pieces of a batch: steps whose rows do not depend on one another go through a batch piece by piece, so
/// that what they leave for one another stays in the caches.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "treadle/compile/program.h"
#include "treadle/core/tensor.h"
#include "treadle/graph/step_graph.h"

namespace treadle {

/// The rows of a call: the extent of each argument's first axis; 0 where they differ or there are none.
int64_t rows_of_call(std::span<const Tensor> arguments);

/// Finds steps that follow one another and work on that many rows, or on several for each, where all of them
/// say what a row of theirs follows from (Op::rows), and where a batch leaves more between two of them than
/// the caches hold. They become a loop, whose steps take the rows of one piece. A sum over rows (Op::sums)
/// becomes one for each piece, and a step behind the loop that adds them. Returns the loops in their order;
/// arguments, results and what other steps read stay whole.
std::vector<PieceLoop> cut_into_pieces(StepGraph& graph, int64_t rows);

namespace detail {
/// For tests: how much a piece may leave between two steps, in bytes; 0: as much as the caches hold.
extern std::atomic<size_t> piece_bytes;
}  // namespace detail

}  // namespace treadle
