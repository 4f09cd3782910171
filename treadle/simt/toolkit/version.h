/// The CUDA whose names these are.
#pragma once

#define TREADLE_CUDA_MAJOR 12
#define TREADLE_CUDA_MINOR 8
#define TREADLE_CUDA_VERSION (TREADLE_CUDA_MAJOR * 1000 + TREADLE_CUDA_MINOR * 10)
