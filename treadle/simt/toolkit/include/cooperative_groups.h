/// CUDA's cooperative groups.
#pragma once

#include <cuda_runtime.h>
#include "treadle/simt/cooperative_groups.h"

namespace cooperative_groups {
using namespace treadle::TREADLE_TARGET::cooperative_groups;
}
