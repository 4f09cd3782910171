// The CUDA toolkit's header of this name.
#pragma once

#include <cuda_runtime.h>

#include "treadle/simt/toolkit/async_copies.h"
