#include "treadle/simt/memory.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "treadle/core/error.h"
#include "treadle/core/log.h"

namespace treadle::simt {
namespace {

constexpr size_t kAlignment = 256;
constexpr unsigned char kPoison = 0xFF;
static_assert(kGuardBytes % kAlignment == 0, "the block after the guard must stay aligned");

/// Changes from byte to byte, so that a shifted copy shows, and is 0 or 0xFF nowhere near the block.
constexpr unsigned char guard_pattern(size_t i) {
  return static_cast<unsigned char>(0xA5u ^ (i * 7u & 0x5Fu));
}

void fill_guard(unsigned char* guard) {
  for (size_t i = 0; i < kGuardBytes; ++i) guard[i] = guard_pattern(i);
}

bool guard_byte_intact(const unsigned char* guard, size_t i) { return guard[i] == guard_pattern(i); }

void check_front(const unsigned char* block, size_t bytes, std::vector<GuardViolation>& found) {
  const unsigned char* guard = block - kGuardBytes;
  for (size_t distance = 0; distance < kGuardBytes; ++distance)
    if (!guard_byte_intact(guard, kGuardBytes - 1 - distance))
      return found.push_back({block, bytes, true, distance});
}

void check_back(const unsigned char* block, size_t bytes, std::vector<GuardViolation>& found) {
  const unsigned char* guard = block + bytes;
  for (size_t distance = 0; distance < kGuardBytes; ++distance)
    if (!guard_byte_intact(guard, distance)) return found.push_back({block, bytes, false, distance});
}

std::atomic<MemoryWatch*> the_watch = nullptr;

class Arena {
 public:
  void* allocate(size_t bytes, std::source_location where) {
    require<DeviceError>(bytes <= SIZE_MAX / 2, "simt: cannot allocate {} bytes", bytes);
    const size_t total = (kGuardBytes + bytes + kGuardBytes + kAlignment - 1) / kAlignment * kAlignment;
    MemoryWatch* watch = the_watch;
    auto* memory = static_cast<unsigned char*>(
        watch == nullptr ? std::aligned_alloc(kAlignment, total)
                         : watch->allocate(kGuardBytes, bytes, total - kGuardBytes - bytes, where));
    require<DeviceError>(memory != nullptr, "simt: out of memory for {} bytes", bytes);
    unsigned char* block = memory + kGuardBytes;
    fill_guard(memory);
    std::memset(block, kPoison, bytes);
    fill_guard(block + bytes);
    note_allocated(block, bytes);
    return block;
  }

  void free(void* memory) {
    auto* block = static_cast<unsigned char*>(memory);
    const size_t bytes = note_freed(block);
    if (MemoryWatch* watch = the_watch; watch != nullptr)
      return watch->free(block, bytes);  // it saw each access
    std::vector<GuardViolation> found;
    check_block(block, bytes, found);
    std::free(block - kGuardBytes);
    require<DeviceError>(found.empty(), "simt: {}", found.empty() ? "" : found.front().describe());
  }

  std::vector<GuardViolation> check() {
    const std::lock_guard lock(mutex_);
    std::vector<GuardViolation> found;
    for (const auto& [block, bytes] : live_) check_block(block, bytes, found);
    return found;
  }

  MemoryStatistics statistics() {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }

 private:
  static void check_block(const unsigned char* block, size_t bytes, std::vector<GuardViolation>& found) {
    check_front(block, bytes, found);
    check_back(block, bytes, found);
  }

  void note_allocated(unsigned char* block, size_t bytes) {
    const std::lock_guard lock(mutex_);
    live_.emplace(block, bytes);
    ++statistics_.live_blocks;
    ++statistics_.allocations;
    statistics_.live_bytes += bytes;
    statistics_.peak_bytes = std::max(statistics_.peak_bytes, statistics_.live_bytes);
  }

  size_t note_freed(unsigned char* block) {
    const std::lock_guard lock(mutex_);
    const auto entry = live_.find(block);
    require<DeviceError>(entry != live_.end(), "simt: {} is no live block of the device",
                         static_cast<void*>(block));
    const size_t bytes = entry->second;
    live_.erase(entry);
    --statistics_.live_blocks;
    statistics_.live_bytes -= bytes;
    return bytes;
  }

  std::mutex mutex_;
  std::map<unsigned char*, size_t> live_;
  MemoryStatistics statistics_;
};

/// Never destroyed: tensors in static objects may be freed late.
Arena& arena() {
  static Arena* arena = new Arena;
  return *arena;
}

}  // namespace

std::string GuardViolation::describe() const {
  return fmt::format("write {} bytes {} a block of {} bytes at {}", distance, before ? "before" : "after",
                     block_bytes, block);
}

void* simt_allocate(size_t bytes, std::source_location where) { return arena().allocate(bytes, where); }

void note_written(const void* address, size_t bytes) {
  if (MemoryWatch* watch = the_watch; watch != nullptr) watch->written(address, bytes);
}

void watch_memory(MemoryWatch* watch) { the_watch = watch; }

void simt_free(void* memory) {
  if (memory != nullptr) arena().free(memory);
}

void simt_free_or_log(void* memory) noexcept {
  try {
    simt_free(memory);
  } catch (const Error& error) {
    log(LogLevel::warning, error.what());
  }
}

std::vector<GuardViolation> check_guards() { return arena().check(); }

MemoryStatistics memory_statistics() { return arena().statistics(); }

}  // namespace treadle::simt
