/// What one step of a program costs: operations, bytes and time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "treadle/graph/op.h"

namespace treadle::cli {

struct StepCost {
  std::string name, variant;
  double flops = 0;  ///< as the op declares them
  double bytes = 0;  ///< every operand once: inputs read, outputs written
  double seconds = 0;
};

/// Runs `step` so often and returns the median cost of each of its variant calls, in order. Throws ValueError
/// when the calls differ from run to run.
std::vector<StepCost> costs_of(const std::function<void()>& step, int64_t runs);

}  // namespace treadle::cli
