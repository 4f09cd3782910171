/// CUDA's half precision numbers, in the global namespace.
#pragma once

#include <cuda_runtime.h>
#include "treadle/simt/toolkit/half_functions.h"

using namespace treadle::TREADLE_TARGET::half_names;
