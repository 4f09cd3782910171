/// Where a launch of a program leaves its error.
#pragma once

#include <exception>

#include "treadle/simt/target.h"

namespace treadle::TREADLE_TARGET::toolkit {

/// Makes what a launch has thrown the error that cudaGetLastError() gives.
void note_launch_error(std::exception_ptr error);

}  // namespace treadle::TREADLE_TARGET::toolkit
