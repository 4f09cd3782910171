/// The host interface's launches by function, attributes of kernels, and occupancy.
#pragma once

#include <utility>

#include "treadle/simt/launch_syntax.h"
#include "treadle/simt/toolkit/api_types.h"

namespace treadle::TREADLE_TARGET {
namespace toolkit {

/// A kernel as a key.
template <class... P>
const void* address_of_kernel(void (*kernel)(P...)) {
  return reinterpret_cast<const void*>(kernel);
}
inline const void* address_of_kernel(const void* kernel) { return kernel; }

/// As run_program_grid(); returns the error.
cudaError_t submit_launch(const KernelLaunch& launch, cudaStream_t stream, const void* kernel);

template <class... P>
cudaError_t launch_kernel(LaunchKind kind, void (*kernel)(P...), const LaunchShape& shape,
                          const P&... arguments) {
  using Pack = LaunchPack<void (*)(P...), P...>;
  const Pack pack{kernel, {arguments...}};
  const void* const function = address_of_kernel(kernel);
  return submit_launch(
      {kind, shape.grid, shape.block, shape.shared_bytes,
       name_of_kernel(function, "kernel of cudaLaunchKernel"), &pack, sizeof pack, Pack::run_threads},
      shape.stream, function);
}

template <class... P, size_t... i>
cudaError_t launch_kernel(LaunchKind kind, void (*kernel)(P...), const LaunchShape& shape,
                          [[maybe_unused]] void** arguments, std::index_sequence<i...>) {
  return launch_kernel<P...>(kind, kernel, shape, *static_cast<P*>(arguments[i])...);
}

inline LaunchKind kind_of(const cudaLaunchConfig_t& configuration) {
  for (unsigned i = 0; i < configuration.numAttrs; ++i)
    if (configuration.attrs[i].id == cudaLaunchAttributeCooperative &&
        configuration.attrs[i].val.cooperative != 0)
      return LaunchKind::cooperative;
  return LaunchKind::general;
}

cudaError_t get_attributes(cudaFuncAttributes* attributes, const void* kernel);
cudaError_t set_attribute(const void* kernel, cudaFuncAttribute attribute, int value);
/// Blocks of a kernel that fit on a multiprocessor: by threads, blocks and shared memory; registers are
/// unknown.
cudaError_t active_blocks(int* blocks, int block_threads, size_t shared_bytes);
cudaError_t potential_block(int* grid, int* block_threads, size_t shared_bytes, int limit);

}  // namespace toolkit

inline namespace cuda_names {

template <class... P>
cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  return toolkit::launch_kernel(LaunchKind::general, kernel, {grid, block, shared_bytes, stream}, arguments,
                                std::index_sequence_for<P...>());
}

template <class... P>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  return toolkit::launch_kernel(LaunchKind::cooperative, kernel, {grid, block, shared_bytes, stream},
                                arguments, std::index_sequence_for<P...>());
}

template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* configuration, void (*kernel)(P...),
                               A&&... arguments) {
  return toolkit::launch_kernel<P...>(toolkit::kind_of(*configuration), kernel,
                                      {configuration->gridDim, configuration->blockDim,
                                       configuration->dynamicSmemBytes, configuration->stream},
                                      std::forward<A>(arguments)...);
}

template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel kernel) {
  return toolkit::get_attributes(attributes, toolkit::address_of_kernel(kernel));
}
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel kernel, cudaFuncAttribute attribute, int value) {
  return toolkit::set_attribute(toolkit::address_of_kernel(kernel), attribute, value);
}
template <class Kernel>
cudaError_t cudaFuncSetCacheConfig(Kernel, cudaFuncCache) {
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaFuncSetSharedMemConfig(Kernel, cudaSharedMemConfig) {
  return cudaSuccess;
}

template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int block_threads,
                                                          size_t shared_bytes) {
  return toolkit::active_blocks(blocks, block_threads, shared_bytes);
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Kernel, int block_threads,
                                                                   size_t shared_bytes, unsigned) {
  return toolkit::active_blocks(blocks, block_threads, shared_bytes);
}
template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block_threads, Kernel, size_t shared_bytes = 0,
                                               int limit = 0) {
  return toolkit::potential_block(grid, block_threads, shared_bytes, limit);
}
template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block_threads, Kernel,
                                                        size_t shared_bytes = 0, int limit = 0,
                                                        unsigned = 0) {
  return toolkit::potential_block(grid, block_threads, shared_bytes, limit);
}
/// The largest block whose shared memory, by `bytes_of`, still fits.
template <class BytesOf, class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block_threads, Kernel kernel,
                                                           BytesOf bytes_of, int limit = 0) {
  int threads = limit > 0 && limit < 1024 ? limit : 1024;
  for (; threads > 32; threads -= 32)
    if (bytes_of(threads) <= 227 * 1024) break;
  return cudaOccupancyMaxPotentialBlockSize(grid, block_threads, kernel, bytes_of(threads), threads);
}

}  // namespace cuda_names
}  // namespace treadle::TREADLE_TARGET
