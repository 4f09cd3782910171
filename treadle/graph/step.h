/// Step: one call of an op inside a function that was recorded, over numbered values.
#pragma once

#include <vector>

#include "treadle/graph/attributes.h"
#include "treadle/graph/spec.h"

namespace treadle {

struct Op;

inline constexpr int kNoValue = -1;

struct Step {
  const Op* op = nullptr;
  Attributes attributes;
  /// Values; kNoValue for an operand that was left out.
  std::vector<int> inputs, outputs;
};

}  // namespace treadle
