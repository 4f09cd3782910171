/// What differs between two recordings of one function.
#pragma once

#include <string>

#include "treadle/compile/recorder.h"

namespace treadle {

/// Empty when a replay of one does what a replay of the other does; else a sentence that names the first
/// difference: the op, the option and both values.
std::string difference(const Recorder& first, const Recorder& second);

}  // namespace treadle
