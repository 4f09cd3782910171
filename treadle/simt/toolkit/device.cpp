#include "treadle/simt/toolkit/device_api.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "treadle/simt/toolkit/allocations.h"
#include "treadle/simt/toolkit/runtime_state.h"
#include "treadle/simt/toolkit/stream_state.h"
#include "treadle/simt/toolkit/version.h"

namespace treadle::TREADLE_TARGET {
namespace toolkit {
namespace {

constexpr int kVersion = TREADLE_CUDA_VERSION;
constexpr char kBusId[] = "0000:00:00.0";

std::atomic<unsigned> device_flags = cudaDeviceMapHost;
std::array<std::atomic<size_t>, 7> limits = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};

cudaError_t check_device(const Call& call, int device) {
  return device == 0 ? cudaSuccess : refuse(call, cudaErrorInvalidDevice, "there is one device, number 0");
}

/// Null pointers for results.
template <class... T>
cudaError_t check_results(const Call& call, const T*... results) {
  return ((results != nullptr) && ...) ? cudaSuccess
                                       : refuse(call, cudaErrorInvalidValue, "no place for the result");
}

template <class T>
cudaError_t give(const Call& call, T* result, T value) {
  if (const cudaError_t error = check_results(call, result); error != cudaSuccess) return error;
  *result = value;
  return cudaSuccess;
}

bool find_attribute(cudaDeviceAttr attribute, int* value) {
  switch (static_cast<int>(attribute)) {
#define TREADLE_DEVICE_ATTRIBUTE(name, number, its_value) \
  case number:                                            \
    return *value = its_value, true;
    TREADLE_DEVICE_ATTRIBUTES(TREADLE_DEVICE_ATTRIBUTE)
#undef TREADLE_DEVICE_ATTRIBUTE
    default:
      return false;
  }
}

int attribute(cudaDeviceAttr name) {
  int value = 0;
  find_attribute(name, &value);
  return value;
}

void fill_limits(cudaDeviceProp& p) {
  p.regsPerBlock = attribute(cudaDevAttrMaxRegistersPerBlock);
  p.warpSize = attribute(cudaDevAttrWarpSize);
  p.maxThreadsPerBlock = attribute(cudaDevAttrMaxThreadsPerBlock);
  p.maxThreadsDim[0] = attribute(cudaDevAttrMaxBlockDimX);
  p.maxThreadsDim[1] = attribute(cudaDevAttrMaxBlockDimY);
  p.maxThreadsDim[2] = attribute(cudaDevAttrMaxBlockDimZ);
  p.maxGridSize[0] = attribute(cudaDevAttrMaxGridDimX);
  p.maxGridSize[1] = attribute(cudaDevAttrMaxGridDimY);
  p.maxGridSize[2] = attribute(cudaDevAttrMaxGridDimZ);
  p.multiProcessorCount = attribute(cudaDevAttrMultiProcessorCount);
  p.maxThreadsPerMultiProcessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  p.maxBlocksPerMultiProcessor = attribute(cudaDevAttrMaxBlocksPerMultiprocessor);
  p.regsPerMultiprocessor = attribute(cudaDevAttrMaxRegistersPerMultiprocessor);
}

void fill_memory(cudaDeviceProp& p) {
  p.totalGlobalMem = device_memory_bytes();
  p.sharedMemPerBlock = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
  p.sharedMemPerBlockOptin = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  p.sharedMemPerMultiprocessor = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  p.reservedSharedMemPerBlock = attribute(cudaDevAttrReservedSharedMemoryPerBlock);
  p.totalConstMem = attribute(cudaDevAttrTotalConstantMemory);
  p.memPitch = attribute(cudaDevAttrMaxPitch);
  p.l2CacheSize = attribute(cudaDevAttrL2CacheSize);
  p.memoryBusWidth = attribute(cudaDevAttrGlobalMemoryBusWidth);
  p.memoryClockRate = attribute(cudaDevAttrMemoryClockRate);
  p.textureAlignment = attribute(cudaDevAttrTextureAlignment);
  p.texturePitchAlignment = attribute(cudaDevAttrTexturePitchAlignment);
  p.surfaceAlignment = attribute(cudaDevAttrSurfaceAlignment);
}

void fill_abilities(cudaDeviceProp& p) {
  p.major = attribute(cudaDevAttrComputeCapabilityMajor);
  p.minor = attribute(cudaDevAttrComputeCapabilityMinor);
  p.clockRate = attribute(cudaDevAttrClockRate);
  p.asyncEngineCount = attribute(cudaDevAttrAsyncEngineCount);
  p.singleToDoublePrecisionPerfRatio = attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio);
  p.ECCEnabled = attribute(cudaDevAttrEccEnabled);
  p.deviceOverlap = p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing =
      p.streamPrioritiesSupported = p.globalL1CacheSupported = p.localL1CacheSupported = p.managedMemory =
          p.hostNativeAtomicSupported = p.concurrentManagedAccess = p.computePreemptionSupported =
              p.canUseHostPointerForRegisteredMem = p.cooperativeLaunch = p.directManagedMemAccessFromHost =
                  p.hostRegisterSupported = p.hostRegisterReadOnlySupported = p.memoryPoolsSupported = 1;
}

const cudaDeviceProp& properties() {
  static const cudaDeviceProp properties = [] {
    cudaDeviceProp p{};
    std::strcpy(p.name, "Treadle SIMT executor");
    std::memcpy(p.uuid.bytes, "treadle simt", 12);
    fill_limits(p);
    fill_memory(p);
    fill_abilities(p);
    return p;
  }();
  return properties;
}

}  // namespace

size_t device_memory_bytes() {
  static const size_t bytes = [] {
    const size_t physical =
        static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return std::min(size_t{80} << 30, physical / 2);
  }();
  return bytes;
}

}  // namespace toolkit

using namespace toolkit;

inline namespace cuda_names {

cudaError_t cudaGetDeviceCount(int* count) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return give(call, count, 1); });
}

cudaError_t cudaGetDevice(int* device) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return give(call, device, 0); });
}

cudaError_t cudaSetDevice(int device) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return check_device(call, device); });
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return check_device(call, device); });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return wanted == nullptr ? cudaErrorInvalidValue : give(call, device, 0); });
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    for (int i = 0; i < count; ++i)
      if (check_device(call, devices[i]) != cudaSuccess) return cudaErrorInvalidDevice;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if ((flags & ~unsigned{cudaDeviceMask}) != 0) return refuse(call, cudaErrorInvalidValue, "unknown flags");
    device_flags = flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return give(call, flags, device_flags.load()); });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* result, int device) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    const cudaError_t error = check_device(call, device);
    return error != cudaSuccess ? error : give(call, result, properties());
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr name, int device) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (const cudaError_t error = check_device(call, device); error != cudaSuccess) return error;
    int found = 0;
    if (!find_attribute(name, &found)) return refuse(call, cudaErrorInvalidValue, "unknown attribute");
    return give(call, value, found);
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (const cudaError_t error = check_device(call, device); error != cudaSuccess) return error;
    if (text == nullptr || length < static_cast<int>(sizeof kBusId)) return cudaErrorInvalidValue;
    std::memcpy(text, kBusId, sizeof kBusId);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (text == nullptr || std::strcmp(text, kBusId) != 0) return cudaErrorInvalidDevice;
    return give(call, device, 0);
  });
}

cudaError_t cudaDeviceSynchronize() {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (any_capture()) return refuse_in_capture(call);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceReset() {
  TREADLE_CUDA_CALL(call);
  set_device_failure(cudaSuccess);
  free_all(call);
  forget_error();
  return cudaSuccess;
}

cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
cudaError_t cudaThreadExit() { return cudaDeviceReset(); }

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (static_cast<unsigned>(limit) >= limits.size())
      return refuse(call, cudaErrorUnsupportedLimit, "unknown limit");
    limits[limit] = value;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (static_cast<unsigned>(limit) >= limits.size())
      return refuse(call, cudaErrorUnsupportedLimit, "unknown limit");
    return give(call, value, limits[limit].load());
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return perform([] { return cudaSuccess; });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* configuration) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return give(call, configuration, cudaFuncCachePreferNone); });
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return perform([] { return cudaSuccess; });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* configuration) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return give(call, configuration, cudaSharedMemBankSizeFourByte); });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return perform([&] {
    if (least != nullptr) *least = kLeastPriority;
    if (greatest != nullptr) *greatest = kGreatestPriority;
    return cudaSuccess;
  });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return perform([] { return cudaSuccess; });
}

cudaError_t cudaDeviceCanAccessPeer(int* possible, int device, int peer) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (check_device(call, device) != cudaSuccess || check_device(call, peer) != cudaSuccess)
      return cudaErrorInvalidDevice;
    return give(call, possible, 0);
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (const cudaError_t error = check_device(call, peer); error != cudaSuccess) return error;
    return refuse(call, cudaErrorInvalidDevice, "a device is no peer of itself");
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (const cudaError_t error = check_device(call, peer); error != cudaSuccess) return error;
    return refuse(call, cudaErrorPeerAccessNotEnabled, "peer access has not been enabled");
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int source, int target) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (check_device(call, source) != cudaSuccess || check_device(call, target) != cudaSuccess ||
        source == target)
      return cudaErrorInvalidDevice;
    return give(call, value, 0);
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return give(call, version, kVersion); });
}

cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

cudaError_t cudaProfilerStart() {
  return perform([] { return cudaSuccess; });
}
cudaError_t cudaProfilerStop() {
  return perform([] { return cudaSuccess; });
}

}  // namespace cuda_names
}  // namespace treadle::TREADLE_TARGET
