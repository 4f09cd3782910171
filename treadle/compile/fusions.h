/// Fusions before differentiation: chains of ops that one op does at once, as the ops declare them.
#pragma once

#include <string>
#include <vector>

#include "treadle/compile/recorder.h"

namespace treadle {

/// A recording in which the chains of `recorded` are fused and gradients are taken afresh.
struct FusedRecording {
  std::unique_ptr<Recorder> recorder;
  std::vector<Tensor> outputs;       ///< of the function
  std::vector<Tensor> gradients;     ///< what leaf slot i of `recorded` holds in the end
  std::vector<std::string> applied;  ///< "conv2d + max_pool2d + relu"
};

/// Null recorder when no chain matches.
FusedRecording fuse_forward(const Recorder& recorded, const std::vector<Tensor>& outputs);

}  // namespace treadle
