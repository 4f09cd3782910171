/// The shape of a loss, and its value in references.
#pragma once

#include "treadle/core/error.h"
#include "treadle/graph/spec.h"
#include "treadle/ops/loss/loss_options.h"

namespace treadle {

/// `terms` for reduction "none", else rank 0. Throws ValueError for an unknown reduction; only some losses
/// know "batchmean".
inline Shape loss_shape(const char* op, const Shape& terms, const LossOptions& options,
                        bool knows_batchmean = false) {
  const std::string& reduction = options.reduction;
  require<ValueError>(reduction == "mean" || reduction == "sum" || reduction == "none" ||
                          (knows_batchmean && reduction == "batchmean"),
                      "{}: reduction '{}' is not known; known are: mean sum none{}", op, reduction,
                      knows_batchmean ? " batchmean" : "");
  return options.keeps_terms() ? terms : Shape{};
}

inline ReferenceTensor reduce_loss(const ReferenceTensor& terms, const LossOptions& options) {
  if (options.keeps_terms()) return terms;
  ReferenceTensor loss = ReferenceTensor::zeros({});
  for (double term : terms.values) loss.values[0] += term;
  loss.values[0] /= options.divisor_of(terms.shape);
  return loss;
}

}  // namespace treadle
