/// Ladders of kernels that the library has registered, run on the SIMT executor and compared.
#pragma once

#include <string>
#include <vector>

#include "treadle/graph/op.h"

namespace treadle::cli {

/// A rung, run on one call.
struct RungRun {
  int rung = 0;
  std::string variant, idea;
  std::string label, dtype;  ///< of the call
  double seconds = 0;        ///< the fastest of a few runs
  double error = 0;          ///< the largest, against the op's reference in double
};

/// All rungs of the op's ladder that take a call of the sizes that benches time: in f32 and, where rungs are
/// left, in bf16. In order; empty for an op without a ladder. Throws ValueError for an op that does not
/// exist.
std::vector<RungRun> climb(const std::string& op);

}  // namespace treadle::cli
