/// The host interface's memory: allocation, copies, and `__device__` and `__constant__` variables.
///
/// Device, managed and pinned memory is host memory with guard zones (memory.h); fresh contents are NaN.
/// Copies run at once, in stream order (stream_state.h), and check what the CUDA runtime checks: directions,
/// and ends of allocations.
#pragma once

#include <source_location>

#include "treadle/simt/target.h"
#include "treadle/simt/toolkit/api_types.h"

namespace treadle::TREADLE_TARGET {

using Site = std::source_location;

inline namespace cuda_names {

cudaError_t cudaMalloc(void** memory, size_t bytes, Site site = Site::current());
cudaError_t cudaFree(void* memory);
cudaError_t cudaMallocHost(void** memory, size_t bytes, unsigned flags = cudaHostAllocDefault,
                           Site site = Site::current());
cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned flags, Site site = Site::current());
cudaError_t cudaFreeHost(void* memory);
cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* memory);
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
cudaError_t cudaHostGetFlags(unsigned* flags, void* memory);
cudaError_t cudaMallocManaged(void** memory, size_t bytes, unsigned flags = cudaMemAttachGlobal,
                              Site site = Site::current());
cudaError_t cudaMallocPitch(void** memory, size_t* pitch, size_t width, size_t height,
                            Site site = Site::current());
cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent, Site site = Site::current());
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory);

cudaError_t cudaMallocAsync(void** memory, size_t bytes, cudaStream_t stream, Site site = Site::current());
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream);
cudaError_t cudaMallocFromPoolAsync(void** memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream,
                                    Site site = Site::current());
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* accesses, size_t count);

cudaError_t cudaMemcpy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyPeer(void* target, int target_device, const void* source, int source_device,
                           size_t bytes);
cudaError_t cudaMemcpyPeerAsync(void* target, int target_device, const void* source, int source_device,
                                size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* memory, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemset2D(void* memory, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset2DAsync(void* memory, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent);

cudaError_t cudaMemPrefetchAsync(const void* memory, size_t bytes, int device, cudaStream_t stream = nullptr);
cudaError_t cudaMemPrefetchAsync(const void* memory, size_t bytes, cudaMemLocation location, unsigned flags,
                                 cudaStream_t stream = nullptr);
cudaError_t cudaMemAdvise(const void* memory, size_t bytes, cudaMemoryAdvise advice, int device);
cudaError_t cudaMemAdvise(const void* memory, size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* memory, size_t bytes = 0,
                                     unsigned flags = cudaMemAttachSingle);

}  // namespace cuda_names

namespace toolkit {
cudaError_t copy_to_symbol(void* symbol, size_t symbol_bytes, const void* source, size_t bytes, size_t offset,
                           cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t copy_from_symbol(void* target, const void* symbol, size_t symbol_bytes, size_t bytes,
                             size_t offset, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t give_symbol(void** result, const void* symbol);

template <class T>
void* address_of_symbol(const T& symbol) {
  return const_cast<void*>(static_cast<const volatile void*>(__builtin_addressof(symbol)));
}
}  // namespace toolkit

// Inlined, so that the call below comes from the program's own line.
#define TREADLE_INLINE [[gnu::always_inline]] inline

inline namespace cuda_names {

template <class T>
TREADLE_INLINE cudaError_t cudaMalloc(T** memory, size_t bytes, Site site = Site::current()) {
  return cudaMalloc(reinterpret_cast<void**>(memory), bytes, site);
}
template <class T>
TREADLE_INLINE cudaError_t cudaMallocHost(T** memory, size_t bytes, unsigned flags = cudaHostAllocDefault,
                                          Site site = Site::current()) {
  return cudaMallocHost(reinterpret_cast<void**>(memory), bytes, flags, site);
}
template <class T>
TREADLE_INLINE cudaError_t cudaHostAlloc(T** memory, size_t bytes, unsigned flags,
                                         Site site = Site::current()) {
  return cudaHostAlloc(reinterpret_cast<void**>(memory), bytes, flags, site);
}
template <class T>
TREADLE_INLINE cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned flags) {
  return cudaHostGetDevicePointer(reinterpret_cast<void**>(device), host, flags);
}
template <class T>
TREADLE_INLINE cudaError_t cudaMallocManaged(T** memory, size_t bytes, unsigned flags = cudaMemAttachGlobal,
                                             Site site = Site::current()) {
  return cudaMallocManaged(reinterpret_cast<void**>(memory), bytes, flags, site);
}
template <class T>
TREADLE_INLINE cudaError_t cudaMallocPitch(T** memory, size_t* pitch, size_t width, size_t height,
                                           Site site = Site::current()) {
  return cudaMallocPitch(reinterpret_cast<void**>(memory), pitch, width, height, site);
}
template <class T>
TREADLE_INLINE cudaError_t cudaMallocAsync(T** memory, size_t bytes, cudaStream_t stream,
                                           Site site = Site::current()) {
  return cudaMallocAsync(reinterpret_cast<void**>(memory), bytes, stream, site);
}
template <class T>
TREADLE_INLINE cudaError_t cudaMallocAsync(T** memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream,
                                           Site site = Site::current()) {
  return cudaMallocFromPoolAsync(reinterpret_cast<void**>(memory), bytes, pool, stream, site);
}

template <class T>
TREADLE_INLINE cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* source, size_t bytes,
                                              size_t offset = 0,
                                              cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return toolkit::copy_to_symbol(toolkit::address_of_symbol(symbol), sizeof symbol, source, bytes, offset,
                                 kind, nullptr);
}
template <class T>
TREADLE_INLINE cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* source, size_t bytes,
                                                   size_t offset, cudaMemcpyKind kind,
                                                   cudaStream_t stream = nullptr) {
  return toolkit::copy_to_symbol(toolkit::address_of_symbol(symbol), sizeof symbol, source, bytes, offset,
                                 kind, stream);
}
template <class T>
TREADLE_INLINE cudaError_t cudaMemcpyFromSymbol(void* target, const T& symbol, size_t bytes,
                                                size_t offset = 0,
                                                cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return toolkit::copy_from_symbol(target, toolkit::address_of_symbol(symbol), sizeof symbol, bytes, offset,
                                   kind, nullptr);
}
template <class T>
TREADLE_INLINE cudaError_t cudaMemcpyFromSymbolAsync(void* target, const T& symbol, size_t bytes,
                                                     size_t offset, cudaMemcpyKind kind,
                                                     cudaStream_t stream = nullptr) {
  return toolkit::copy_from_symbol(target, toolkit::address_of_symbol(symbol), sizeof symbol, bytes, offset,
                                   kind, stream);
}
template <class T>
TREADLE_INLINE cudaError_t cudaGetSymbolAddress(void** result, const T& symbol) {
  return toolkit::give_symbol(result, toolkit::address_of_symbol(symbol));
}
template <class P, class T>
TREADLE_INLINE cudaError_t cudaGetSymbolAddress(P** result, const T& symbol) {
  return toolkit::give_symbol(reinterpret_cast<void**>(result), toolkit::address_of_symbol(symbol));
}
template <class T>
cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol) {
  *bytes = sizeof symbol;
  return cudaSuccess;
}

}  // namespace cuda_names
}  // namespace treadle::TREADLE_TARGET
