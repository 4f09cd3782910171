/// What a program that the driver translates includes before everything else: CUDA's names, as nvcc's
/// programs find them without an #include, and the macros that say so.
#pragma once

#include <cuda_runtime.h>

#include "treadle/simt/launch_syntax.h"
#include "treadle/simt/toolkit/version.h"

#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDA_ARCH__ 900
#define __CUDACC_VER_MAJOR__ TREADLE_CUDA_MAJOR
#define __CUDACC_VER_MINOR__ TREADLE_CUDA_MINOR
#define __CUDACC_VER_BUILD__ 0
