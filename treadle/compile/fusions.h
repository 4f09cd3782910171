/// Fusions before differentiation: chains of ops that one op does at once, with a cheaper gradient of its
/// own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "treadle/compile/recorder.h"

namespace treadle {

/// What takes the place of a chain: the inputs are the first op's.
struct FusedCall {
  const Op* op;
  Attributes attributes;
};

/// A chain of ops, each of which reads output 0 of the one before as its input 0 and nobody else does.
struct ForwardFusion {
  std::vector<const char*> chain;
  /// The call that does it; none where the attributes do not allow it.
  std::optional<FusedCall> (*fuse)(const std::vector<const RecordedStep*>& chain);
};

/// All of them; longer chains come first.
const std::vector<ForwardFusion>& forward_fusions();

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
