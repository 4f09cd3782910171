/// Fusions before differentiation: chains of ops that one op does at once, with a gradient of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "treadle/compile/recorder.h"

namespace treadle {

/// A recorded function by its values: what it returns, and what its leaf slots hold in the end.
struct FunctionValues {
  std::vector<int> results, gradients;
};

/// A recording in which chains are fused and gradients were taken afresh.
struct FusedRecording {
  std::unique_ptr<Recorder> recorder;
  FunctionValues values;
  std::vector<std::string> applied;  ///< "conv2d + max_pool2d + relu → conv2d_max_pool2d"
};

/// Null recorder where no chain matches, or what follows one cannot be recorded again.
FusedRecording fuse_forward(const Recorder& recorded, const FunctionValues& values);

}  // namespace treadle
