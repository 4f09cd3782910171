#include "treadle/simt/check/runtime/device_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>

#include "treadle/core/error.h"
#include "treadle/simt/check/runtime/findings.h"
#include "treadle/simt/memory.h"

namespace treadle::checker {

Shadow device_shadow{.begin = kRegionBegin, .bytes = kRegionBytes};

namespace {

constexpr size_t kAlignment = 256;

class Watch final : public simt::MemoryWatch {
 public:
  void* allocate(size_t before, size_t bytes, size_t after, std::source_location where) override {
    const std::lock_guard lock(mutex_);
    const size_t total = before + bytes + after;
    if (total > kRegionBytes - used_) return nullptr;
    const uintptr_t memory = kRegionBegin + used_;
    used_ += (total + kAlignment - 1) / kAlignment * kAlignment;
    const uintptr_t begin = memory + before;
    blocks_[begin] = {++count_, begin, bytes, true, where};
    for (size_t i = 0; i < bytes; i += kWordBytes)
      *state_of(begin + i) = static_cast<uint8_t>(word_mask(0, bytes - i) << 4);
    return reinterpret_cast<void*>(memory);
  }

  /// What was there stays known, for reports of later uses; the memory itself goes back to the system.
  void free(void* block, size_t bytes) override {
    const std::lock_guard lock(mutex_);
    const auto begin = reinterpret_cast<uintptr_t>(block);
    blocks_[begin].live = false;
    std::memset(state_of(begin), kFreed, (bytes + kWordBytes - 1) / kWordBytes);
    give_back(begin, begin + bytes);
    give_back(reinterpret_cast<uintptr_t>(cell_of(begin)),
              reinterpret_cast<uintptr_t>(cell_of(begin + bytes)));
  }

  void written(const void* address, size_t bytes) override {
    const auto begin = reinterpret_cast<uintptr_t>(address);
    if (bytes == 0 || !in_region(begin)) return;
    const uintptr_t end = begin + bytes;
    for (uintptr_t word = begin / kWordBytes * kWordBytes; word < end; word += kWordBytes) {
      const size_t first = word < begin ? begin - word : 0;
      *state_of(word) |= word_mask(first, end - word - first);
    }
  }

  Allocation near(uintptr_t address) {
    const std::lock_guard lock(mutex_);
    const auto after = blocks_.upper_bound(address);
    if (after == blocks_.begin()) return after == blocks_.end() ? Allocation() : after->second;
    const Allocation& before = std::prev(after)->second;
    if (after == blocks_.end() || address < before.begin + before.bytes) return before;
    return address - (before.begin + before.bytes) <= after->second.begin - address ? before : after->second;
  }

  std::vector<Allocation> live() {
    const std::lock_guard lock(mutex_);
    std::vector<Allocation> result;
    for (const auto& [begin, block] : blocks_)
      if (block.live) result.push_back(block);
    return result;
  }

 private:
  /// Whole pages inside [begin, end).
  static void give_back(uintptr_t begin, uintptr_t end) {
    constexpr uintptr_t kPage = 4096;
    const uintptr_t first = (begin + kPage - 1) / kPage * kPage, last = end / kPage * kPage;
    if (first < last) static_cast<void>(madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED));
  }

  std::mutex mutex_;
  std::map<uintptr_t, Allocation> blocks_;
  size_t used_ = kAlignment;
  uint64_t count_ = 0;
};

/// Never destroyed: memory may be freed late.
Watch& watch() {
  static auto* watch = new Watch;
  return *watch;
}

}  // namespace

void watch_device_memory() {
  reserve_addresses(kRegionBytes, "device memory", reinterpret_cast<void*>(kRegionBegin));
  device_shadow.reserve(kRegionBytes);
  simt::watch_memory(&watch());
}

Allocation allocation_near(uintptr_t address) { return watch().near(address); }

namespace {

struct HostMemory {
  std::mutex mutex;
  std::map<uintptr_t, size_t> ranges;
};

HostMemory& host_memory() {
  static auto* memory = new HostMemory;
  return *memory;
}

}  // namespace

void allow_host_memory(uintptr_t begin, size_t bytes) {
  const std::lock_guard lock(host_memory().mutex);
  host_memory().ranges[begin] = bytes;
}

void forbid_host_memory(uintptr_t begin) {
  const std::lock_guard lock(host_memory().mutex);
  host_memory().ranges.erase(begin);
}

bool is_allowed_host_memory(uintptr_t address) {
  const std::lock_guard lock(host_memory().mutex);
  const auto after = host_memory().ranges.upper_bound(address);
  return after != host_memory().ranges.begin() &&
         address - std::prev(after)->first < std::prev(after)->second;
}

void report_leaks() {
  for (const Allocation& block : watch().live()) {
    simt::Report report;
    report.kind = "leak";
    report.message = fmt::format("{} bytes of device memory were never freed", block.bytes);
    report.place.file = block.where.file_name();
    report.place.line = block.where.line();
    report.place.function = block.where.function_name();
    report.allocation = fmt::format("allocation {}", block.number);
    report.bytes = block.bytes;
    const auto place = reinterpret_cast<uintptr_t>(block.where.file_name()) + block.where.line();
    if (Findings::all().is_new("leak", place, 0, 0)) Findings::all().add(std::move(report), place, 0);
  }
}

}  // namespace treadle::checker
