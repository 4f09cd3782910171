/// Fusions after differentiation: steps of a program that one op does at once.
#pragma once

#include "treadle/compile/program.h"

namespace treadle {

/// Applies the fusions that ops declare, notes them in the program, and moves updates early.
void fuse_steps(Program& program, const Recorder& recorder);

}  // namespace treadle
