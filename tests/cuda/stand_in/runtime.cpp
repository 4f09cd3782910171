#include "tests/cuda/stand_in/stand_in.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

using Work = std::function<void()>;

struct CUstream_st {
  int device;
  std::deque<Work> queue;
  bool capturing = false, invalid = false;
  std::vector<Work> captured;
};
struct CUgraph_st {
  int device;
  std::vector<Work> work;
};
struct CUgraphExec_st : CUgraph_st {};

namespace treadle::stand_in {
namespace {

constexpr size_t kMemory = size_t(2) << 30;  ///< of each device
constexpr size_t kAlignment = 256;           ///< what cudaMalloc promises

/// The memory of a device: out of reach but while work is done.
class DeviceMemory {
 public:
  DeviceMemory() {
    void* region =
        mmap(nullptr, kMemory + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    begin_ = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(region) + kPage - 1) / kPage * kPage);
    madvise(begin_, kMemory, MADV_HUGEPAGE);
    free_.emplace(size_t(0), kMemory);
  }

  void* allocate(size_t bytes) {
    const size_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    auto place =
        std::find_if(free_.begin(), free_.end(), [&](const auto& one) { return one.second >= size; });
    if (place == free_.end()) return nullptr;
    auto [offset, room] = *place;
    free_.erase(place);
    if (room > size) free_.emplace(offset + size, room - size);
    live_.emplace(offset, std::pair{bytes, size});
    used_ = std::max(used_, offset + size);
    open();
    std::memset(begin_ + offset, 0xFF, size);  // NaN in every floating dtype
    close();
    return begin_ + offset;
  }

  bool release(void* memory) {
    auto found = live_.find(offset_of(memory));
    if (found == live_.end()) return false;
    auto [offset, size] = std::pair{found->first, found->second.second};
    live_.erase(found);
    auto next = free_.find(offset + size);
    if (next != free_.end()) size += next->second, free_.erase(next);
    auto after = free_.lower_bound(offset);
    if (after != free_.begin() && std::prev(after)->first + std::prev(after)->second == offset)
      std::prev(after)->second += size;
    else
      free_.emplace(offset, size);
    return true;
  }

  /// Whether all of it lies in one live block.
  bool holds(const void* memory, size_t bytes) const {
    const size_t offset = offset_of(memory);
    auto after = live_.upper_bound(offset);
    if (offset >= kMemory || after == live_.begin()) return false;
    const auto& [begin, block] = *std::prev(after);
    return offset + bytes <= begin + block.first;
  }
  bool is_inside(const void* memory) const { return offset_of(memory) < kMemory; }

  void open() { protect(PROT_READ | PROT_WRITE); }
  void close() { protect(PROT_NONE); }

 private:
  size_t offset_of(const void* memory) const { return size_t(static_cast<const char*>(memory) - begin_); }

  void protect(int access) {
    if (used_ > 0) mprotect(begin_, (used_ + kPage - 1) / kPage * kPage, access);
  }

  static constexpr size_t kPage = size_t(2) << 20;  ///< a large one: changing access costs by page
  char* begin_;
  size_t used_ = 0;                                   ///< beyond it no block has ever been
  std::map<size_t, size_t> free_;                     ///< offset → size
  std::map<size_t, std::pair<size_t, size_t>> live_;  ///< offset → bytes asked for, size
};

struct Device {
  DeviceMemory memory;
  std::vector<cudaStream_t> streams;
  std::string error;  ///< what a kernel threw
};

/// All that the stand-in knows; each call of the API holds the mutex, work on streams included.
struct World {
  std::recursive_mutex mutex;
  std::array<Device, kDevices> devices;
  Counts counts;
  bool refuses_captures = false;
};

World& world() {
  static World& one = *new World;
  return one;
}

thread_local int current_device = 0;
thread_local cudaError_t last_error = cudaSuccess;
thread_local cudaStream_t captured_stream = nullptr;  ///< this thread's capture

using Lock = std::lock_guard<std::recursive_mutex>;

cudaError_t fail(cudaError_t status) {
  if (status != cudaSuccess) last_error = status;
  return status;
}

cudaError_t device_status(int device) {
  return world().devices[size_t(device)].error.empty() ? cudaSuccess : cudaErrorLaunchFailure;
}

/// Does the stream's work; memory of all devices is in reach meanwhile.
cudaError_t drain(cudaStream_t stream) {
  Device& device = world().devices[size_t(stream->device)];
  for (Device& one : world().devices) one.memory.open();
  while (!stream->queue.empty() && device.error.empty()) {
    const Work work = std::move(stream->queue.front());
    stream->queue.pop_front();
    try {
      work();
    } catch (const std::exception& error) {
      device.error = error.what();
    }
  }
  for (Device& one : world().devices) one.memory.close();
  return device_status(stream->device);
}

bool is_host_memory(const void* memory) {
  for (const Device& device : world().devices)
    if (device.memory.is_inside(memory)) return false;
  return memory != nullptr;
}

/// Fits the direction: which side is the device's, and that it is a live block of the stream's device.
bool is_right(cudaMemcpyKind kind, cudaStream_t stream, const void* target, const void* source,
              size_t bytes) {
  const bool from_host = kind == cudaMemcpyHostToDevice, to_host = kind == cudaMemcpyDeviceToHost;
  return (to_host ? is_host_memory(target) : is_device_memory(stream, target, bytes)) &&
         (from_host ? is_host_memory(source) : is_device_memory(stream, source, bytes));
}

}  // namespace

Counts counts() {
  const Lock lock(world().mutex);
  return world().counts;
}

cudaError_t enqueue(cudaStream_t stream, Work work) {
  const Lock lock(world().mutex);
  // A null stream is CUDA's legacy stream, which waits for others and cannot be captured: nobody wants it
  // here.
  if (!stream || stream->device != current_device) return fail(cudaErrorInvalidResourceHandle);
  if (cudaError_t status = device_status(stream->device)) return fail(status);
  if (stream->capturing)
    stream->captured.push_back(std::move(work));
  else
    stream->queue.push_back(std::move(work));
  return cudaSuccess;
}

bool is_device_memory(cudaStream_t stream, const void* memory, size_t bytes) {
  const Lock lock(world().mutex);
  return stream && world().devices[size_t(stream->device)].memory.holds(memory, bytes);
}

bool may_allocate() {
  if (!captured_stream) return true;
  const Lock lock(world().mutex);
  captured_stream->invalid = true;
  return false;
}

int device_of(cudaStream_t stream) { return stream ? stream->device : -1; }

void refuse_captures(bool refuse) {
  const Lock lock(world().mutex);
  world().refuses_captures = refuse;
}

std::string take_device_error() {
  const Lock lock(world().mutex);
  std::string error;
  for (Device& device : world().devices) {
    error += std::exchange(device.error, {});
    for (cudaStream_t stream : device.streams) stream->queue.clear();
  }
  return error;
}

const char* put(CUstream_st* stream, Work work) {
  const cudaError_t status = enqueue(stream, std::move(work));
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

bool is_capturing(const CUstream_st* stream) { return stream && stream->capturing; }

void count_kernel() { ++world().counts.kernels; }

}  // namespace treadle::stand_in

// The functions of the CUDA runtime that Treadle calls.
using namespace treadle::stand_in;

extern "C" {

TREADLE_STAND_IN cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }

TREADLE_STAND_IN const char* cudaGetErrorString(cudaError_t status) {
  switch (status) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated:
      return "operation failed due to a previous error during capture";
    case cudaErrorLaunchFailure:
      return "unspecified launch failure";
    case cudaErrorInvalidResourceHandle:
      return "invalid resource handle";
    case cudaErrorInvalidValue:
      return "invalid argument";
    default:
      return "another error";
  }
}

TREADLE_STAND_IN cudaError_t cudaGetDeviceCount(int* count) {
  *count = kDevices;
  return cudaSuccess;
}

TREADLE_STAND_IN cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= kDevices) return fail(cudaErrorInvalidDevice);
  current_device = device;
  return cudaSuccess;
}

TREADLE_STAND_IN cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}

TREADLE_STAND_IN cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

TREADLE_STAND_IN cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrComputeCapabilityMajor ? 9 : 0;
  return cudaSuccess;
}

TREADLE_STAND_IN cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "CUDA stand-in");
  properties->major = 9;
  properties->totalGlobalMem = kMemory;
  return cudaSuccess;
}

TREADLE_STAND_IN cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  *free = *total = kMemory;
  return cudaSuccess;
}

TREADLE_STAND_IN cudaError_t cudaMalloc(void** memory, size_t bytes) {
  const Lock lock(world().mutex);
  if (!may_allocate()) return fail(cudaErrorStreamCaptureUnsupported);
  if (cudaError_t status = device_status(current_device)) return fail(status);
  ++world().counts.allocations;
  *memory = world().devices[size_t(current_device)].memory.allocate(bytes);
  return *memory ? cudaSuccess : fail(cudaErrorMemoryAllocation);
}

/// Memory that both sides reach at any time.
TREADLE_STAND_IN cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned) {
  if (!may_allocate()) return fail(cudaErrorStreamCaptureUnsupported);
  *memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  return *memory ? cudaSuccess : fail(cudaErrorMemoryAllocation);
}

/// Waits for the device, as CUDA does.
TREADLE_STAND_IN cudaError_t cudaFree(void* memory) {
  const Lock lock(world().mutex);
  if (!may_allocate()) return fail(cudaErrorStreamCaptureUnsupported);
  for (Device& device : world().devices) {
    if (!device.memory.is_inside(memory)) continue;
    for (cudaStream_t stream : device.streams) drain(stream);
    return device.memory.release(memory) ? cudaSuccess : fail(cudaErrorInvalidValue);
  }
  return memory ? fail(cudaErrorInvalidValue) : cudaSuccess;
}

TREADLE_STAND_IN cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t bytes,
                                             cudaMemcpyKind kind, cudaStream_t stream) {
  const Lock lock(world().mutex);
  if (!is_right(kind, stream, target, source, bytes)) return fail(cudaErrorInvalidValue);
  return enqueue(stream, [=] { std::memmove(target, source, bytes); });
}

TREADLE_STAND_IN cudaError_t cudaMemsetAsync(void* target, int value, size_t bytes, cudaStream_t stream) {
  const Lock lock(world().mutex);
  if (!is_device_memory(stream, target, bytes)) return fail(cudaErrorInvalidValue);
  return enqueue(stream, [=] { std::memset(target, value, bytes); });
}

TREADLE_STAND_IN cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  const Lock lock(world().mutex);
  *stream = new CUstream_st{current_device, {}, false, false, {}};
  world().devices[size_t(current_device)].streams.push_back(*stream);
  return cudaSuccess;
}

TREADLE_STAND_IN cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const Lock lock(world().mutex);
  if (!stream) return fail(cudaErrorInvalidResourceHandle);
  ++world().counts.synchronizations;
  if (!stream->capturing) return fail(drain(stream));
  stream->invalid = true;
  return fail(cudaErrorStreamCaptureUnsupported);
}

TREADLE_STAND_IN cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const Lock lock(world().mutex);
  if (!stream || stream->capturing || mode != cudaStreamCaptureModeThreadLocal)
    return fail(cudaErrorInvalidValue);
  ++world().counts.captures;
  stream->capturing = true;
  stream->invalid = false;
  stream->captured.clear();
  captured_stream = stream;
  return cudaSuccess;
}

TREADLE_STAND_IN cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const Lock lock(world().mutex);
  *graph = nullptr;
  if (captured_stream != stream) return fail(cudaErrorStreamCaptureWrongThread);
  captured_stream = nullptr;
  stream->capturing = false;
  if (stream->invalid || world().refuses_captures) return fail(cudaErrorStreamCaptureInvalidated);
  *graph = new CUgraph_st{stream->device, std::move(stream->captured)};
  return cudaSuccess;
}

TREADLE_STAND_IN cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph,
                                                  unsigned long long) {
  const Lock lock(world().mutex);
  *ready = new CUgraphExec_st{{graph->device, graph->work}};
  return cudaSuccess;
}

TREADLE_STAND_IN cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  const Lock lock(world().mutex);
  if (graph->device != stream->device) return fail(cudaErrorInvalidValue);
  ++world().counts.graph_launches;
  for (const Work& work : graph->work)
    if (cudaError_t status = enqueue(stream, work)) return status;
  return cudaSuccess;
}

TREADLE_STAND_IN cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

/// Waits first: CUDA lets launches that are under way finish.
TREADLE_STAND_IN cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  const Lock lock(world().mutex);
  delete graph;
  return cudaSuccess;
}

}  // extern "C"
