/// Planning: a graph of steps becomes a program.
#pragma once

#include "treadle/compile/program.h"

namespace treadle {

/// Takes over buffers, values and steps; the program has its loops already. Finds the one device that runs
/// them, when each buffer is needed, and a place in the arena for each result. Throws RecordingError where
/// steps are on several devices.
void plan(const StepGraph& graph, Program& program);

}  // namespace treadle
