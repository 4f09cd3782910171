/// What one step of a program costs: operations, bytes and time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "treadle/graph/op.h"

namespace treadle::cli {

struct StepCost {
  std::string name, variant;
  double flops = 0;  ///< multiply-adds × 2, or what the op's formula needs
  double bytes = 0;  ///< every operand once: inputs read, outputs written
  double seconds = 0;
};

/// Operations of one call when it is evaluated densely. The gradient of a convolution below pooling counts
/// one place per pooling window. Sums, pooling and pointwise ops count one per element and term, roughly.
double operations_of(const Op& op, const Call& call);

/// Bytes that one call must move at least; elements that an expanded operand repeats count once.
double bytes_of(const Call& call);

/// Runs `step` so often and returns the median cost of each of its variant calls, in order. Throws ValueError
/// when the calls differ from run to run.
std::vector<StepCost> costs_of(const std::function<void()>& step, int64_t runs);

}  // namespace treadle::cli
