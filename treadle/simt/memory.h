/// Memory of the simt device: host memory with guard zones on both sides, and contents that are NaN until
/// written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

#include "treadle/core/export.h"

namespace treadle::simt {

/// Bytes on each side of a block that nobody may write.
inline constexpr size_t kGuardBytes = 256;

/// A block of at least `bytes` bytes, aligned to 256, filled with 0xFF: NaN in every floating type, -1 in
/// every signed one. `where` is who asks for it, for reports. Throws DeviceError when memory is out.
TREADLE_API void* simt_allocate(size_t bytes, std::source_location where = std::source_location::current());

/// Frees a block; null is allowed. Throws DeviceError, after freeing it, when its guard zones were written;
/// also when `memory` is no live block.
TREADLE_API void simt_free(void* memory);

/// The host has written `bytes` bytes of device memory: whoever copies to it or fills it says so.
TREADLE_API void note_written(const void* address, size_t bytes);

/// The same for those who must not throw: what it throws is logged.
void simt_free_or_log(void* memory) noexcept;

/// A write outside a block: the one nearest to it on that side.
struct TREADLE_API GuardViolation {
  const void* block;
  size_t block_bytes;
  bool before;      ///< in the zone before the block, else after it
  size_t distance;  ///< bytes between the block's edge and the byte written; 0 is the neighbour

  /// "write 3 bytes after a block of 400 bytes at 0x…"
  std::string describe() const;
};

/// The guard zones of all live blocks that were written.
TREADLE_API std::vector<GuardViolation> check_guards();

/// Sees what becomes of the device's memory: a checker.
class TREADLE_API MemoryWatch {
 public:
  virtual ~MemoryWatch() = default;
  /// Memory for a block, of `before` + `bytes` + `after` bytes and aligned to 256; null when it is out. The
  /// block begins behind `before`.
  virtual void* allocate(size_t before, size_t bytes, size_t after, std::source_location where) = 0;
  /// Takes back what allocate() gave; nobody else gets it as long as there is other memory.
  virtual void free(void* block, size_t bytes) = 0;
  virtual void written(const void* address, size_t bytes) = 0;
};
/// Blocks come from `watch` from now on, which lives as long as the process. To be called before any is
/// allocated.
TREADLE_API void watch_memory(MemoryWatch* watch);

struct MemoryStatistics {
  size_t live_blocks = 0;
  size_t live_bytes = 0;
  size_t peak_bytes = 0;
  uint64_t allocations = 0;  ///< since start
};
TREADLE_API MemoryStatistics memory_statistics();

}  // namespace treadle::simt
