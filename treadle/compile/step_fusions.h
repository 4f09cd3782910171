/// Fusions after differentiation: steps of a program that one op does at once.
#pragma once

#include "treadle/compile/program.h"

namespace treadle {

/// Replaces the patterns of the table in step_fusions.cpp and notes them in the program.
void fuse_steps(Program& program, const Recorder& recorder);

}  // namespace treadle
