/// Bodies of losses in terms of other ops: how terms become the result.
#pragma once

#include "treadle/graph/composition.h"
#include "treadle/ops/loss/loss_options.h"

namespace treadle {

/// The terms as the loss, which is the call's output 0.
void reduce_terms(const Composition& call, const TensorView& terms, const LossOptions& options);

}  // namespace treadle
