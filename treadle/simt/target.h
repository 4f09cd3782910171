/// TREADLE_TARGET: the namespace a `.cu` file is compiled into: cuda by nvcc; simt, or checked with the
/// checker's hooks, by the host compiler. TREADLE_TARGET_IS_CUDA: whether that is cuda, 0 or 1.
#pragma once

// In other people's programs (toolkit/), __CUDACC__ is there because they ask for it; nvcc is not.
#if defined(__CUDACC__) && !defined(TREADLE_SIMT_PROGRAM)
#define TREADLE_TARGET cuda
#define TREADLE_TARGET_IS_CUDA 1
#elif defined(TREADLE_SIMT_CHECK)
#define TREADLE_TARGET checked
#define TREADLE_TARGET_IS_CUDA 0
#else
#define TREADLE_TARGET simt
#define TREADLE_TARGET_IS_CUDA 0
#endif
