/// Put in front of every `.cu` file by the build of the CUDA stand-in: the file then lies in namespace
/// treadle::cuda, as under nvcc, with the executor's names, and its launches go to streams of the stand-in.
#pragma once

#include <cstring>
#include <tuple>

#include "treadle/simt/cooperative_groups.h"
#include "treadle/simt/device.h"
#include "treadle/simt/half.h"
#include "treadle/simt/wmma.h"

struct CUstream_st;

namespace treadle::stand_in {

/// Puts a launch behind the stream's work, or into the graph that is captured from it. Throws DeviceError
/// where CUDA returns an error.
void enqueue_kernel(CUstream_st* stream, const simt::KernelLaunch& launch);
void enqueue_copy_to_constant(CUstream_st* stream, void* target, const void* source, size_t bytes);

template <class Kernel>
struct Launcher;

template <class... P>
struct Launcher<void (*)(P...)> {
  template <auto kernel, simt::LaunchKind kind>
  static void launch(const char* signature, CUstream_st* stream, simt::dim3 grid, simt::dim3 block,
                     size_t shared_bytes, P... arguments) {
    using Simt = simt::KernelLauncher<void (*)(P...)>;
    const std::tuple<P...> pack(arguments...);
    enqueue_kernel(stream, {kind, grid, block, shared_bytes, signature, &pack, sizeof pack,
                            Simt::template run_threads<kernel>, Simt::template block_loop<kernel, kind>()});
  }
};

}  // namespace treadle::stand_in

namespace treadle::cuda {

using namespace simt;
using stream_t = CUstream_st*;

template <auto kernel, LaunchKind kind = LaunchKind::general, class... A>
void launch(stream_t stream, dim3 grid, dim3 block, size_t shared_bytes, A&&... arguments) {
  stand_in::Launcher<decltype(kernel)>::template launch<kernel, kind>(
      __PRETTY_FUNCTION__, stream, grid, block, shared_bytes, std::forward<A>(arguments)...);
}

template <auto kernel, class... A>
void launch_cooperative(stream_t stream, dim3 grid, dim3 block, size_t shared_bytes, A&&... arguments) {
  launch<kernel, LaunchKind::cooperative>(stream, grid, block, shared_bytes, std::forward<A>(arguments)...);
}

template <class Symbol>
void copy_to_constant(Symbol& symbol, const void* source, size_t bytes, stream_t stream) {
  if (bytes > sizeof symbol) throw_device_error("copy_to_constant", "more bytes than the variable has");
  stand_in::enqueue_copy_to_constant(stream, &symbol, source, bytes);
}

}  // namespace treadle::cuda

#undef TREADLE_TARGET
#define TREADLE_TARGET cuda
#undef TREADLE_TARGET_IS_CUDA
#define TREADLE_TARGET_IS_CUDA 1
