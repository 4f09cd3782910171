/// CUDA's qualifiers, vector types and built-in variables for the host compiler.
#pragma once

#include <cstddef>
#include <cstdint>

#include "treadle/simt/target.h"
#include "treadle/simt/vector_types.h"

#if defined(__CUDA_RUNTIME_H__)
#error "the host build of a .cu file must not see CUDA's headers"
#endif

#define TREADLE_SIMT 1

// The driver translates the words of programs itself (driver/translate.h).
#if !defined(TREADLE_SIMT_PROGRAM)
#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
/// One copy per worker thread, which runs one block at a time; never initialised, as in CUDA.
#define __shared__ static __thread
#endif
#define __align__(n) __attribute__((aligned(n)))

#define TREADLE_PRAGMA(text) _Pragma(#text)
#if !defined(TREADLE_SIMT_PROGRAM)
#define UNROLL(n) TREADLE_PRAGMA(GCC unroll n)
#endif
#define TREADLE_ARCH_AT_LEAST(n) 1

namespace treadle::TREADLE_TARGET {

using ::dim3;

/// The type of the built-in variables. Members of full width that are bit-fields: no pointer can point to
/// them, so the compiler knows that a kernel's stores leave them alone, and can keep them in registers.
struct BuiltIn {
  unsigned x : 32, y : 32, z : 32;
  constexpr operator uint3() const { return {x, y, z}; }
  constexpr operator dim3() const { return {x, y, z}; }
};

class BlockExecutor;

// Real variables, so that a debugger can stop on a condition such as threadIdx.x == 3. The executor sets them
// at every switch. initial-exec makes them as cheap as globals in a shared library too. It places all
// thread-local variables of their library, `__shared__` arrays included, in a reserve of about 1,600 bytes
// when the library is opened at run time: so in a shared build they are a small library of their own, and
// exported.
#define TREADLE_BUILT_IN __attribute__((tls_model("initial-exec"), visibility("default")))
extern TREADLE_BUILT_IN __thread BuiltIn threadIdx, blockIdx, blockDim, gridDim;
/// The block's dynamic shared memory.
extern TREADLE_BUILT_IN __thread void* dynamic_shared_memory;
/// The executor that runs a block on this thread, whose threads may wait for one another; null outside
/// kernels, and where an independent kernel runs as a plain loop.
extern TREADLE_BUILT_IN __thread BlockExecutor* current_executor;
/// The executor that runs a block on this thread, of whatever kind; null outside kernels.
extern TREADLE_BUILT_IN __thread BlockExecutor* running_executor;
/// How many threads of the block have looked in vain for a change since the last event that was one.
extern TREADLE_BUILT_IN __thread unsigned quiet_threads;
/// While it is not 0, a kernel that is to be ended for its time is not: what it calls must come to its end.
extern TREADLE_BUILT_IN __thread unsigned uninterrupted;

constexpr int warpSize = 32;

/// The block's dynamic shared memory, aligned to 128 bytes.
template <class T>
T* dynamic_shared() {
  return static_cast<T*>(dynamic_shared_memory);
}

/// The thread's number within its block, x fastest.
inline unsigned linear_thread_index() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

}  // namespace treadle::TREADLE_TARGET
