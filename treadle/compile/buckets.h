/// Batches of any number of rows, served by programs for a few numbers of rows.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "treadle/core/tensor.h"

namespace treadle {

using BatchFunction = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

/// Calls `function` with batches whose first axis is one of `buckets` (rising), and puts the rows of the
/// results together. Throws ShapeError when the arguments have different numbers of rows or a result has not
/// the rows of its batch.
std::vector<Tensor> call_in_buckets(const BatchFunction& function, const std::vector<int64_t>& buckets,
                                    std::span<const Tensor> arguments);

}  // namespace treadle
