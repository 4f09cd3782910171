/// What differs between two recordings of one function.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "treadle/compile/recorder.h"

namespace treadle {

/// A recorded function and what it returned.
struct FunctionRecording {
  std::unique_ptr<Recorder> recorder;
  std::vector<Tensor> results;
};

/// Empty when a replay of one does what a replay of the other does; else a sentence that names the first
/// difference: the op, the option and both values.
std::string difference(const FunctionRecording& first, const FunctionRecording& second);

}  // namespace treadle
