/// embedding: rows of a table, by their numbers.
#pragma once  // public

#include "treadle/core/tensor.h"
#include "treadle/ops/layout/embedding_options.h"

namespace treadle {

/// y[…, :] = w[indices[…], :]: w [V, E], indices [...] of i64 or i32 → y [..., E]. The gradient of row v is
/// the sum over all places with that index; that of the padding row is 0. Errors as index_select();
/// ValueError for a padding row that w does not have.
TREADLE_API Tensor embedding(const Tensor& w, const Tensor& indices, const EmbeddingOptions& options = {});

}  // namespace treadle
