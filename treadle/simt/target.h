/// TREADLE_TARGET: the namespace a `.cu` file is compiled into: cuda by nvcc; simt, or checked with the
/// checker's hooks, by the host compiler.
#pragma once

#if defined(__CUDACC__)
#define TREADLE_TARGET cuda
#elif defined(TREADLE_SIMT_CHECK)
#define TREADLE_TARGET checked
#else
#define TREADLE_TARGET simt
#endif
