/// CUDA's qualifiers, vector types and built-in variables for the host compiler.
#pragma once

#include <cstddef>
#include <cstdint>

#include "treadle/simt/target.h"

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
#define UNROLL(n) TREADLE_PRAGMA(GCC unroll n)
#define TREADLE_ARCH_AT_LEAST(n) 1

namespace treadle::TREADLE_TARGET {

// clang-format off
struct alignas(2) char2 { signed char x, y; };
struct alignas(4) char4 { signed char x, y, z, w; };
struct alignas(2) uchar2 { unsigned char x, y; };
struct alignas(4) uchar4 { unsigned char x, y, z, w; };
struct alignas(4) short2 { short x, y; };
struct alignas(8) short4 { short x, y, z, w; };
struct alignas(4) ushort2 { unsigned short x, y; };
struct alignas(8) ushort4 { unsigned short x, y, z, w; };
struct alignas(8) int2 { int x, y; };
struct int3 { int x, y, z; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
struct uint3 { unsigned x, y, z; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) longlong2 { long long x, y; };
struct alignas(16) ulonglong2 { unsigned long long x, y; };
struct alignas(8) float2 { float x, y; };
struct float3 { float x, y, z; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) double2 { double x, y; };
struct double3 { double x, y, z; };

inline char2 make_char2(signed char x, signed char y) { return {x, y}; }
inline char4 make_char4(signed char x, signed char y, signed char z, signed char w) { return {x, y, z, w}; }
inline uchar2 make_uchar2(unsigned char x, unsigned char y) { return {x, y}; }
inline uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w) {
  return {x, y, z, w};
}
inline short2 make_short2(short x, short y) { return {x, y}; }
inline short4 make_short4(short x, short y, short z, short w) { return {x, y, z, w}; }
inline ushort2 make_ushort2(unsigned short x, unsigned short y) { return {x, y}; }
inline ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z, unsigned short w) {
  return {x, y, z, w};
}
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int3 make_int3(int x, int y, int z) { return {x, y, z}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline longlong2 make_longlong2(long long x, long long y) { return {x, y}; }
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }
inline double3 make_double3(double x, double y, double z) { return {x, y, z}; }
// clang-format on

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

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
/// The executor that runs a block on this thread; null in an independent kernel and outside kernels.
extern TREADLE_BUILT_IN __thread BlockExecutor* current_executor;

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
