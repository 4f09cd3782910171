/// TREADLE_DEVICE: marks a function that both host code and kernels may call.
#pragma once

#if defined(__CUDACC__) && !defined(TREADLE_SIMT_PROGRAM)
#define TREADLE_DEVICE __host__ __device__
#else
#define TREADLE_DEVICE
#endif
