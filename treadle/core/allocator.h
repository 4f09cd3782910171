/// Caching allocator, one per device: freed blocks are kept in size classes and handed out again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "treadle/core/runtime.h"

namespace treadle {

/// Bytes and calls, counted since start.
struct AllocatorStatistics {
  size_t allocated_bytes = 0;  ///< in use now
  size_t peak_bytes = 0;       ///< largest allocated_bytes so far
  size_t reserved_bytes = 0;   ///< held from the device, in use or cached
  uint64_t allocations = 0;    ///< calls of allocate
  uint64_t device_calls = 0;   ///< of those, the ones that reached the device
};

class TREADLE_API CachingAllocator {
 public:
  explicit CachingAllocator(Runtime& runtime) : runtime_(runtime) {}
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  /// Memory for `bytes`, rounded up to its size class. Releases the cache and tries again before it throws.
  void* allocate(size_t bytes);
  void free(void* memory, size_t bytes) noexcept;
  /// Gives cached blocks back to the device.
  void release_cache();
  AllocatorStatistics statistics() const;
  void reset_peak();

 private:
  void* take_cached(size_t size);
  void* from_device(size_t size);

  Runtime& runtime_;
  mutable std::mutex mutex_;
  std::unordered_map<size_t, std::vector<void*>> cached_;
  AllocatorStatistics statistics_;
};

/// The allocator of a device. Throws DeviceError when the device is absent.
TREADLE_API CachingAllocator& allocator(Device device);

}  // namespace treadle
