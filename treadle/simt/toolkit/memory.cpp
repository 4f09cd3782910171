#include <cstring>

#include "treadle/simt/toolkit/allocations.h"
#include "treadle/simt/toolkit/copies.h"
#include "treadle/simt/toolkit/memory_api.h"
#include "treadle/simt/toolkit/stream_state.h"

namespace treadle::TREADLE_TARGET {
namespace toolkit {
namespace {

constexpr size_t kPitchAlignment = 512;

/// The pool of the device; it has no others, as it keeps no freed memory.
int the_pool;
cudaMemPool_t default_pool() { return reinterpret_cast<cudaMemPool_t>(&the_pool); }

cudaError_t give_memory(const Call& call, Site site, void** result, size_t bytes, MemoryKind kind,
                        unsigned flags = 0) {
  if (result == nullptr) return refuse(call, cudaErrorInvalidValue, "no place for the address");
  if (any_capture()) return refuse_in_capture(call);
  *result = nullptr;
  if (bytes == 0) return cudaSuccess;
  *result = allocate(bytes, kind, flags, site);
  return *result != nullptr ? cudaSuccess
                            : refuse(call, cudaErrorMemoryAllocation, "so much memory is not there");
}

cudaError_t free_memory(const Call& call, void* memory, MemoryKind kind, MemoryKind or_kind,
                        const char* message) {
  if (memory == nullptr) return cudaSuccess;
  return free_allocation(call, memory, kind, or_kind) ? cudaSuccess
                                                      : refuse(call, cudaErrorInvalidValue, message);
}

cudaError_t submit_copy(const Call& call, cudaStream_t stream, Rows target, Rows source, Region region,
                        cudaMemcpyKind kind) {
  if (const cudaError_t error = check_copy(call, target, source, region, kind); error != cudaSuccess)
    return error;
  return submit(call, stream, [=] { return copy(target, source, region), cudaSuccess; });
}

cudaError_t submit_fill(const Call& call, cudaStream_t stream, Rows target, int value, Region region) {
  if (const cudaError_t error = check_fill(call, target, region); error != cudaSuccess) return error;
  return submit(call, stream, [=] { return fill(target, value, region), cudaSuccess; });
}

/// The calls that wait: none while a graph is captured.
template <class F>
cudaError_t perform_waiting(const Call& call, F work) {
  return perform([&] { return any_capture() ? refuse_in_capture(call) : work(); });
}

Rows rows_of(const void* memory, size_t pitch = 0, size_t slice = 0) {
  return {const_cast<void*>(memory), pitch, slice};
}

Rows rows_of(const cudaPitchedPtr& memory, const cudaPos& at) {
  return {static_cast<char*>(memory.ptr) + (at.z * memory.ysize + at.y) * memory.pitch + at.x, memory.pitch,
          memory.pitch * memory.ysize};
}

cudaError_t submit_copy_3d(const Call& call, const cudaMemcpy3DParms* p, cudaStream_t stream) {
  if (p == nullptr) return refuse(call, cudaErrorInvalidValue, "no parameters");
  if (p->srcArray != nullptr || p->dstArray != nullptr)
    return refuse(call, cudaErrorNotSupported, "the executor has no CUDA arrays");
  return submit_copy(call, stream, rows_of(p->dstPtr, p->dstPos), rows_of(p->srcPtr, p->srcPos),
                     {p->extent.width, p->extent.height, p->extent.depth}, p->kind);
}

cudaError_t check_managed(const Call& call, const void* memory, size_t bytes) {
  if (bytes == 0) return refuse(call, cudaErrorInvalidValue, "no bytes");
  const auto allocation = find_allocation(memory);
  if (allocation && allocation->kind == MemoryKind::managed) return cudaSuccess;
  return refuse(call, cudaErrorInvalidValue, "this is no managed memory");
}

cudaError_t check_location(const Call& call, int device) {
  return device == 0 || device == cudaCpuDeviceId
             ? cudaSuccess
             : refuse(call, cudaErrorInvalidDevice, "there is one device, number 0");
}

cudaError_t check_location(const Call& call, const cudaMemLocation& location) {
  return check_location(call, location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId);
}

cudaError_t check_symbol(const Call& call, size_t symbol_bytes, size_t offset, size_t bytes) {
  if (offset <= symbol_bytes && bytes <= symbol_bytes - offset) return cudaSuccess;
  return refuse(call, cudaErrorInvalidValue, "more bytes than the variable has");
}

}  // namespace

cudaError_t copy_to_symbol(void* symbol, size_t symbol_bytes, const void* source, size_t bytes, size_t offset,
                           cudaMemcpyKind kind, cudaStream_t stream) {
  const Call call{"cudaMemcpyToSymbol", __builtin_return_address(0)};
  return perform([&] {
    if (const cudaError_t error = check_symbol(call, symbol_bytes, offset, bytes); error != cudaSuccess)
      return error;
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
      return refuse(call, cudaErrorInvalidMemcpyDirection, "the variable is the target");
    return submit_copy(call, stream, {static_cast<char*>(symbol) + offset}, rows_of(source), {bytes}, kind);
  });
}

cudaError_t copy_from_symbol(void* target, const void* symbol, size_t symbol_bytes, size_t bytes,
                             size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  const Call call{"cudaMemcpyFromSymbol", __builtin_return_address(0)};
  return perform([&] {
    if (const cudaError_t error = check_symbol(call, symbol_bytes, offset, bytes); error != cudaSuccess)
      return error;
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
      return refuse(call, cudaErrorInvalidMemcpyDirection, "the variable is the source");
    return submit_copy(call, stream, {target}, rows_of(static_cast<const char*>(symbol) + offset), {bytes},
                       kind);
  });
}

cudaError_t give_symbol(void** result, const void* symbol) {
  return perform([&] {
    *result = const_cast<void*>(symbol);
    return cudaSuccess;
  });
}

}  // namespace toolkit

using namespace toolkit;

inline namespace cuda_names {

// ---- allocation

cudaError_t cudaMalloc(void** memory, size_t bytes, Site site) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return give_memory(call, site, memory, bytes, MemoryKind::device); });
}

cudaError_t cudaFree(void* memory) {
  TREADLE_CUDA_CALL(call);
  return perform_waiting(call, [&] {
    return free_memory(call, memory, MemoryKind::device, MemoryKind::managed,
                       "this is no memory of cudaMalloc, or was freed before");
  });
}

cudaError_t cudaMallocHost(void** memory, size_t bytes, unsigned flags, Site site) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return give_memory(call, site, memory, bytes, MemoryKind::pinned, flags); });
}

cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned flags, Site site) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (flags > 7) return refuse(call, cudaErrorInvalidValue, "unknown flags");
    return give_memory(call, site, memory, bytes, MemoryKind::pinned, flags);
  });
}

cudaError_t cudaFreeHost(void* memory) {
  TREADLE_CUDA_CALL(call);
  return perform_waiting(call, [&] {
    return free_memory(call, memory, MemoryKind::pinned, MemoryKind::pinned,
                       "this is no memory of cudaMallocHost, or was freed before");
  });
}

cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned flags) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (memory == nullptr || bytes == 0 || flags > 15)
      return refuse(call, cudaErrorInvalidValue, "no memory, or unknown flags");
    if (register_memory(memory, bytes, flags)) return cudaSuccess;
    return refuse(call, cudaErrorHostMemoryAlreadyRegistered, "part of the memory is registered already");
  });
}

cudaError_t cudaHostUnregister(void* memory) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (memory == nullptr) return refuse(call, cudaErrorInvalidValue, "a null pointer");
    if (unregister_memory(memory)) return cudaSuccess;
    return refuse(call, cudaErrorHostMemoryNotRegistered, "the memory is not registered");
  });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    const auto allocation = find_allocation(host);
    if (device == nullptr || flags != 0 || !allocation || allocation->kind == MemoryKind::device)
      return refuse(call, cudaErrorInvalidValue, "this is no pinned memory");
    *device = host;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* memory) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    const auto allocation = find_allocation(memory);
    if (flags == nullptr || !allocation || allocation->kind == MemoryKind::device)
      return refuse(call, cudaErrorInvalidValue, "this is no pinned memory");
    *flags = allocation->flags | cudaHostAllocMapped;
    return cudaSuccess;
  });
}

cudaError_t cudaMallocManaged(void** memory, size_t bytes, unsigned flags, Site site) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
      return refuse(call, cudaErrorInvalidValue, "no bytes, or unknown flags");
    return give_memory(call, site, memory, bytes, MemoryKind::managed, flags);
  });
}

cudaError_t cudaMallocPitch(void** memory, size_t* pitch, size_t width, size_t height, Site site) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (pitch == nullptr) return refuse(call, cudaErrorInvalidValue, "no place for the pitch");
    *pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
    return give_memory(call, site, memory, *pitch * height, MemoryKind::device);
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent, Site site) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (memory == nullptr) return refuse(call, cudaErrorInvalidValue, "no place for the address");
    const size_t pitch = (extent.width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
    *memory = {nullptr, pitch, extent.width, extent.height};
    return give_memory(call, site, &memory->ptr, pitch * extent.height * extent.depth, MemoryKind::device);
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (free == nullptr || total == nullptr)
      return refuse(call, cudaErrorInvalidValue, "no place for the result");
    *total = device_memory_bytes();
    *free = *total - std::min(*total, allocated_bytes());
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (attributes == nullptr) return refuse(call, cudaErrorInvalidValue, "no place for the result");
    const auto allocation = find_allocation(memory);
    void* address = const_cast<void*>(memory);
    if (!allocation)
      *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, address};
    else if (allocation->kind == MemoryKind::device)
      *attributes = {cudaMemoryTypeDevice, 0, address, nullptr};
    else
      *attributes = {allocation->kind == MemoryKind::managed ? cudaMemoryTypeManaged : cudaMemoryTypeHost, 0,
                     address, address};
    return cudaSuccess;
  });
}

// ---- allocation in stream order

cudaError_t cudaMallocFromPoolAsync(void** memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream,
                                    Site site) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    StreamState* state = find_stream(stream);
    if (state == nullptr) return refuse(call, cudaErrorInvalidResourceHandle, "there is no such stream");
    if (pool != default_pool()) return refuse(call, cudaErrorInvalidValue, "there is no such pool");
    if (state->capture != nullptr)
      return refuse(call, cudaErrorNotSupported, "graphs that allocate are not supported");
    return give_memory(call, site, memory, bytes, MemoryKind::device);
  });
}

[[gnu::noinline]] cudaError_t cudaMallocAsync(void** memory, size_t bytes, cudaStream_t stream, Site site) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    StreamState* state = find_stream(stream);
    if (state == nullptr) return refuse(call, cudaErrorInvalidResourceHandle, "there is no such stream");
    if (state->capture != nullptr)
      return refuse(call, cudaErrorNotSupported, "graphs that allocate are not supported");
    return give_memory(call, site, memory, bytes, MemoryKind::device);
  });
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (find_stream(stream) == nullptr)
      return refuse(call, cudaErrorInvalidResourceHandle, "there is no such stream");
    return free_memory(call, memory, MemoryKind::device, MemoryKind::managed,
                       "this is no memory of cudaMallocAsync, or was freed before");
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (pool == nullptr || device != 0)
      return refuse(call, cudaErrorInvalidValue, "no place for the result, or no such device");
    *pool = default_pool();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    return device == 0 && pool == default_pool()
               ? cudaSuccess
               : refuse(call, cudaErrorInvalidValue, "there is no such pool");
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
  return cudaDeviceGetDefaultMemPool(pool, 0);
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) { return cudaDeviceSetMemPool(0, pool); }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void*) {
  return cudaDeviceSetMemPool(0, pool);
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) { return cudaDeviceSetMemPool(0, pool); }
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc*, size_t) {
  return cudaDeviceSetMemPool(0, pool);
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (pool != default_pool() || value == nullptr)
      return refuse(call, cudaErrorInvalidValue, "there is no such pool");
    if (attribute <= cudaMemPoolReuseAllowInternalDependencies)
      *static_cast<int*>(value) = 1;
    else
      *static_cast<uint64_t*>(value) = attribute == cudaMemPoolAttrReleaseThreshold ? 0 : allocated_bytes();
    return cudaSuccess;
  });
}

// ---- copies

cudaError_t cudaMemcpy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
  TREADLE_CUDA_CALL(call);
  return perform_waiting(
      call, [&] { return submit_copy(call, nullptr, {target}, rows_of(source), {bytes}, kind); });
}

cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return submit_copy(call, stream, {target}, rows_of(source), {bytes}, kind); });
}

cudaError_t cudaMemcpyPeer(void* target, int, const void* source, int, size_t bytes) {
  TREADLE_CUDA_CALL(call);
  return perform_waiting(call, [&] {
    return submit_copy(call, nullptr, {target}, rows_of(source), {bytes}, cudaMemcpyDeviceToDevice);
  });
}

cudaError_t cudaMemcpyPeerAsync(void* target, int, const void* source, int, size_t bytes,
                                cudaStream_t stream) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    return submit_copy(call, stream, {target}, rows_of(source), {bytes}, cudaMemcpyDeviceToDevice);
  });
}

cudaError_t cudaMemcpy2D(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  TREADLE_CUDA_CALL(call);
  return perform_waiting(call, [&] {
    return submit_copy(call, nullptr, {target, target_pitch}, rows_of(source, source_pitch), {width, height},
                       kind);
  });
}

cudaError_t cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    return submit_copy(call, stream, {target, target_pitch}, rows_of(source, source_pitch), {width, height},
                       kind);
  });
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  TREADLE_CUDA_CALL(call);
  return perform_waiting(call, [&] { return submit_copy_3d(call, parameters, nullptr); });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return submit_copy_3d(call, parameters, stream); });
}

cudaError_t cudaMemset(void* memory, int value, size_t bytes) {
  TREADLE_CUDA_CALL(call);
  return perform_waiting(call, [&] { return submit_fill(call, nullptr, {memory}, value, {bytes}); });
}

cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return submit_fill(call, stream, {memory}, value, {bytes}); });
}

cudaError_t cudaMemset2D(void* memory, size_t pitch, int value, size_t width, size_t height) {
  TREADLE_CUDA_CALL(call);
  return perform_waiting(call, [&] {
    return submit_fill(call, nullptr, {memory, pitch}, value, {width, height});
  });
}

cudaError_t cudaMemset2DAsync(void* memory, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return submit_fill(call, stream, {memory, pitch}, value, {width, height}); });
}

cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent) {
  TREADLE_CUDA_CALL(call);
  return perform_waiting(call, [&] {
    return submit_fill(call, nullptr, rows_of(memory, {}), value,
                       {extent.width, extent.height, extent.depth});
  });
}

// ---- managed memory: hints

cudaError_t cudaMemPrefetchAsync(const void* memory, size_t bytes, int device, cudaStream_t) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    const cudaError_t error = check_managed(call, memory, bytes);
    return error != cudaSuccess ? error : check_location(call, device);
  });
}

cudaError_t cudaMemPrefetchAsync(const void* memory, size_t bytes, cudaMemLocation location, unsigned,
                                 cudaStream_t) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    const cudaError_t error = check_managed(call, memory, bytes);
    return error != cudaSuccess ? error : check_location(call, location);
  });
}

cudaError_t cudaMemAdvise(const void* memory, size_t bytes, cudaMemoryAdvise, int device) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    const cudaError_t error = check_managed(call, memory, bytes);
    return error != cudaSuccess ? error : check_location(call, device);
  });
}

cudaError_t cudaMemAdvise(const void* memory, size_t bytes, cudaMemoryAdvise, cudaMemLocation location) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    const cudaError_t error = check_managed(call, memory, bytes);
    return error != cudaSuccess ? error : check_location(call, location);
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* memory, size_t, unsigned) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (find_stream(stream) == nullptr)
      return refuse(call, cudaErrorInvalidResourceHandle, "there is no such stream");
    return check_managed(call, memory, 1);
  });
}

}  // namespace cuda_names
}  // namespace treadle::TREADLE_TARGET
