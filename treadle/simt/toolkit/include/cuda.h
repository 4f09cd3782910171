/// CUDA's driver interface: what programs take of it.
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include "treadle/simt/toolkit/version.h"

#define CUDA_VERSION TREADLE_CUDA_VERSION
#define CUDAAPI
