/// An op that has a name and nothing else, for graphs whose steps are not run.
#pragma once

#include <utility>
#include <vector>

#include "treadle/graph/op.h"

namespace treadle {

/// `mutates`: the inputs that it updates in place.
inline Op op_named_so(const char* name, std::vector<int> mutates = {}) {
  Op op;
  op.name = name;
  op.mutates = std::move(mutates);
  return op;
}

}  // namespace treadle
