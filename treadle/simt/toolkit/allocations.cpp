#include "treadle/simt/toolkit/allocations.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>

#include "treadle/core/error.h"
#include "treadle/simt/hooks.h"
#include "treadle/simt/memory.h"

namespace treadle::TREADLE_TARGET::toolkit {
namespace {

/// Writes next to the block were made long ago, and a GPU would not notice them here either: a word must do.
void give_back(const Call& call, const Allocation& allocation) {
  try {
    simt::simt_free(allocation.begin);
  } catch (const Error& error) {
    fmt::print(stderr, "treadle simt: {}: {}\n", call.function, error.what());
  }
}

class Allocations {
 public:
  bool add(const Allocation& allocation) {
    const std::lock_guard lock(mutex_);
    const auto next = live_.upper_bound(allocation.begin);
    const auto* end = static_cast<const char*>(allocation.begin) + allocation.bytes;
    if (next != live_.end() && next->second.begin < end) return false;
    if (next != live_.begin() && contains(std::prev(next)->second, allocation.begin)) return false;
    live_.emplace(allocation.begin, allocation);
    bytes_ += own_bytes(allocation);
    return true;
  }

  template <class Wanted>
  std::optional<Allocation> take(void* memory, Wanted wanted) {
    const std::lock_guard lock(mutex_);
    const auto entry = live_.find(memory);
    if (entry == live_.end() || !wanted(entry->second.kind)) return std::nullopt;
    const Allocation allocation = entry->second;
    live_.erase(entry);
    bytes_ -= own_bytes(allocation);
    return allocation;
  }

  std::optional<Allocation> find(const void* address) {
    const std::lock_guard lock(mutex_);
    auto next = live_.upper_bound(const_cast<void*>(address));
    if (next == live_.begin()) return std::nullopt;
    const Allocation& before = std::prev(next)->second;
    return contains(before, address) ? std::optional(before) : std::nullopt;
  }

  std::map<void*, Allocation> take_all() {
    const std::lock_guard lock(mutex_);
    bytes_ = 0;
    return std::exchange(live_, {});
  }

  size_t bytes() {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  static bool contains(const Allocation& allocation, const void* address) {
    const auto *begin = static_cast<const char*>(allocation.begin), *at = static_cast<const char*>(address);
    return at >= begin && at < begin + allocation.bytes;
  }
  static size_t own_bytes(const Allocation& allocation) {
    return allocation.kind == MemoryKind::device || allocation.kind == MemoryKind::managed ? allocation.bytes
                                                                                           : 0;
  }

  std::mutex mutex_;
  std::map<void*, Allocation> live_;
  size_t bytes_ = 0;  ///< of the device
};

/// Never destroyed: static objects of the program may free late.
Allocations& allocations() {
  static auto* allocations = new Allocations;
  return *allocations;
}

}  // namespace

size_t allocated_bytes() { return allocations().bytes(); }

void* allocate(size_t bytes, MemoryKind kind, unsigned flags, std::source_location site) {
  if (bytes > device_memory_bytes() - std::min(device_memory_bytes(), allocated_bytes())) return nullptr;
  void* memory = simt::simt_allocate(bytes, site);
  // The host may write it in ways that nobody sees.
  if (kind != MemoryKind::device) simt::note_written(memory, bytes);
  allocations().add({memory, bytes, kind, flags});
  return memory;
}

bool free_allocation(const Call& call, void* memory, MemoryKind kind, MemoryKind or_kind) {
  const auto allocation =
      allocations().take(memory, [&](MemoryKind its) { return its == kind || its == or_kind; });
  if (allocation) give_back(call, *allocation);
  return allocation.has_value();
}

void free_all(const Call& call) {
  for (const auto& [memory, allocation] : allocations().take_all())
    if (allocation.kind != MemoryKind::registered) give_back(call, allocation);
}

bool register_memory(void* memory, size_t bytes, unsigned flags) {
  if (!allocations().add({memory, bytes, MemoryKind::registered, flags})) return false;
  hooks::host_memory_registered(memory, bytes);
  return true;
}

bool unregister_memory(void* memory) {
  const auto allocation =
      allocations().take(memory, [](MemoryKind kind) { return kind == MemoryKind::registered; });
  if (allocation) hooks::host_memory_unregistered(memory, allocation->bytes);
  return allocation.has_value();
}

std::optional<Allocation> find_allocation(const void* address) { return allocations().find(address); }

}  // namespace treadle::TREADLE_TARGET::toolkit
