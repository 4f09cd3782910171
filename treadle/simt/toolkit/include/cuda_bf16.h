/// CUDA's bfloat16 numbers, in the global namespace.
#pragma once

#include <cuda_fp16.h>
