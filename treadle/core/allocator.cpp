#include "treadle/core/allocator.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "treadle/core/error.h"

namespace treadle {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCachingAllowed =
    false;  // every block comes from the device, so that AddressSanitizer sees its end
#else
constexpr bool kCachingAllowed = true;
#endif

/// Multiples of an eighth of the power of two below: at most 12.5 % is wasted and sizes meet again.
size_t size_class(size_t bytes) {
  if (bytes <= 512) return (std::max<size_t>(bytes, 1) + 63) / 64 * 64;
  size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

}  // namespace

CachingAllocator::~CachingAllocator() { release_cache(); }

void* CachingAllocator::take_cached(size_t size) {
  auto found = cached_.find(size);
  if (found == cached_.end() || found->second.empty()) return nullptr;
  void* memory = found->second.back();
  found->second.pop_back();
  return memory;
}

void* CachingAllocator::from_device(size_t size) {
  ++statistics_.device_calls;
  try {
    return runtime_.allocate(size);
  } catch (const DeviceError&) {
    for (auto& [bytes, blocks] : cached_) {
      for (void* block : blocks) runtime_.free(block), statistics_.reserved_bytes -= bytes;
      blocks.clear();
    }
    return runtime_.allocate(size);
  }
}

void* CachingAllocator::allocate(size_t bytes) {
  require<DeviceError>(bytes <= size_t(INT64_MAX), "no device has {} bytes of memory", bytes);
  bool cache = kCachingAllowed && runtime_.caches();
  size_t size = cache ? size_class(bytes) : std::max<size_t>(bytes, 1);
  std::lock_guard lock(mutex_);
  void* memory = cache ? take_cached(size) : nullptr;
  if (!memory) {
    memory = from_device(size);
    statistics_.reserved_bytes += size;
  }
  ++statistics_.allocations;
  statistics_.allocated_bytes += size;
  statistics_.peak_bytes = std::max(statistics_.peak_bytes, statistics_.allocated_bytes);
  return memory;
}

void CachingAllocator::free(void* memory, size_t bytes) noexcept {
  if (!memory) return;
  bool cache = kCachingAllowed && runtime_.caches();
  size_t size = cache ? size_class(bytes) : std::max<size_t>(bytes, 1);
  std::lock_guard lock(mutex_);
  statistics_.allocated_bytes -= size;
  if (cache) {
    cached_[size].push_back(memory);
  } else {
    runtime_.free(memory);
    statistics_.reserved_bytes -= size;
  }
}

void CachingAllocator::release_cache() {
  std::lock_guard lock(mutex_);
  for (auto& [size, blocks] : cached_) {
    for (void* block : blocks) runtime_.free(block), statistics_.reserved_bytes -= size;
    blocks.clear();
  }
}

AllocatorStatistics CachingAllocator::statistics() const {
  std::lock_guard lock(mutex_);
  return statistics_;
}

void CachingAllocator::reset_peak() {
  std::lock_guard lock(mutex_);
  statistics_.peak_bytes = statistics_.allocated_bytes;
}

CachingAllocator& allocator(Device device) {
  // Never destroyed: tensors held by static objects may be freed after any destructor here.
  static auto& allocators = *new std::map<std::pair<DeviceKind, int>, std::unique_ptr<CachingAllocator>>;
  static std::mutex mutex;
  if (device == kCpu) {  // asked for every tensor of every op: no lock
    static auto& cpu = *new CachingAllocator(runtime(kCpu));
    return cpu;
  }
  std::lock_guard lock(mutex);
  auto& slot = allocators[{device.kind, device.index}];
  if (!slot) slot = std::make_unique<CachingAllocator>(runtime(device));
  return *slot;
}

}  // namespace treadle
