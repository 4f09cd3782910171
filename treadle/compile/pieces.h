/// Pieces of a batch: a function whose rows do not depend on one another goes through them piece by piece, so
/// that what its steps leave for one another stays in the caches.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "treadle/core/tensor.h"
#include "treadle/graph/step_graph.h"

namespace treadle {

/// The rows of a call: the extent of each argument's first axis; 0 where they differ or there are none.
int64_t rows_of_call(std::span<const Tensor> arguments);

/// Has the steps of a function of that many rows take those of one piece, where all of them say what a row of
/// theirs follows from (Op::rows), nothing is updated, and a batch leaves more between two steps than the
/// caches hold. Returns the number of pieces; 1: nothing was changed. Arguments and results stay whole.
int cut_into_pieces(StepGraph& graph, int64_t rows);

namespace detail {
/// For tests: how much a piece may leave between two steps, in bytes; 0: as much as the caches hold.
extern std::atomic<size_t> piece_bytes;
}  // namespace detail

}  // namespace treadle
