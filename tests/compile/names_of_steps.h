/// What a program does, for tests of fusions.
#pragma once

#include <string>
#include <vector>

#include "treadle/compile/program.h"
#include "treadle/graph/op.h"

namespace treadle {

/// The op of each step.
inline std::vector<std::string> names_of_steps(const Program& program) {
  std::vector<std::string> names;
  for (const ProgramStep& step : program.steps) names.push_back(step.op->name);
  return names;
}

}  // namespace treadle
