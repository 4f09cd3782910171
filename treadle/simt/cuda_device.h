/// The names of device.h over the CUDA runtime.
#pragma once

#include <cuda_runtime.h>

#define TREADLE_CUDA 1
#define TREADLE_PRAGMA(text) _Pragma(#text)
#define UNROLL(n) TREADLE_PRAGMA(unroll n)
#if defined(__CUDA_ARCH__)
#define TREADLE_ARCH_AT_LEAST(n) (__CUDA_ARCH__ >= (n))
#else
#define TREADLE_ARCH_AT_LEAST(n) 1
#endif

namespace treadle::cuda {

using stream_t = cudaStream_t;

/// Whether the threads of a block may wait for one another.
enum class LaunchKind { general, independent };
inline constexpr LaunchKind independent = LaunchKind::independent;

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // a passing error must not be reported again by a library's next call
  throw_device_error(what, cudaGetErrorString(status));
}

/// The block's dynamic shared memory, aligned to 128 bytes.
template <class T>
__device__ __forceinline__ T* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char treadle_dynamic_shared[];
  return reinterpret_cast<T*>(treadle_dynamic_shared);
}

/// Copies Bytes (4, 8 or 16) from global to shared memory in the background; part of the group that is open.
template <int Bytes>
__device__ __forceinline__ void copy_async(void* shared, const void* global) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
#if TREADLE_ARCH_AT_LEAST(800)
  const unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(global) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(target), "l"(global), "n"(Bytes)
                 : "memory");
#else
  using Word = std::conditional_t<Bytes == 16, uint4, std::conditional_t<Bytes == 8, uint2, unsigned> >;
  *static_cast<Word*>(shared) = *static_cast<const Word*>(global);
#endif
}

/// Closes the group of copies that is open.
__device__ __forceinline__ void copy_async_commit() {
#if TREADLE_ARCH_AT_LEAST(800)
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most Pending of this thread's groups are unfinished; other threads' copies need a
/// __syncthreads() too.
template <int Pending>
__device__ __forceinline__ void copy_async_wait() {
#if TREADLE_ARCH_AT_LEAST(800)
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#endif
}

/// Copies to a `__constant__` variable, in stream order. Not while a graph is captured: every replay would
/// read the host's memory again.
template <class Symbol>
void copy_to_constant(const Symbol& symbol, const void* source, size_t bytes, stream_t stream) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &capture), "copy_to_constant");
  if (capture != cudaStreamCaptureStatusNone)
    throw_device_error("cuda", "a graph is being captured, and the work copies from the host");
  check(cudaMemcpyToSymbolAsync(symbol, source, bytes, 0, cudaMemcpyHostToDevice, stream),
        "copy_to_constant");
}

/// Launches with arguments converted to the kernel's own parameter types.
template <class Kernel>
struct KernelLauncher;

template <class... P>
struct KernelLauncher<void (*)(P...)> {
  static constexpr size_t kSharedWithoutOptIn = 48 * 1024;

  template <auto kernel>
  static void launch(stream_t stream, dim3 grid, dim3 block, size_t shared_bytes, bool cooperative,
                     P... arguments) {
    if (shared_bytes > kSharedWithoutOptIn)
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shared_bytes)),
            "dynamic shared memory");
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = cooperative;
    cudaLaunchConfig_t configuration{};
    configuration.gridDim = grid;
    configuration.blockDim = block;
    configuration.dynamicSmemBytes = shared_bytes;
    configuration.stream = stream;
    configuration.attrs = &attribute;
    configuration.numAttrs = 1;
    check(cudaLaunchKernelEx(&configuration, kernel, arguments...), "kernel launch");
  }
};

/// Launches `kernel` and throws DeviceError when the launch is refused.
template <auto kernel, LaunchKind kind = LaunchKind::general, class... A>
void launch(stream_t stream, dim3 grid, dim3 block, size_t shared_bytes, A&&... arguments) {
  KernelLauncher<decltype(kernel)>::template launch<kernel>(stream, grid, block, shared_bytes, false,
                                                            std::forward<A>(arguments)...);
}

/// Launches `kernel` with all blocks resident at once, so that it may call grid_sync().
template <auto kernel, class... A>
void launch_cooperative(stream_t stream, dim3 grid, dim3 block, size_t shared_bytes, A&&... arguments) {
  KernelLauncher<decltype(kernel)>::template launch<kernel>(stream, grid, block, shared_bytes, true,
                                                            std::forward<A>(arguments)...);
}

}  // namespace treadle::cuda
