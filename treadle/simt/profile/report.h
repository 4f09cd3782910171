/// What a profiled program counts, as it goes through a file: written by the program, read by who shows it.
///
/// A warp's lanes run one after another on the executor; what they did is put together again as a GPU would
/// have run it (runtime/warp_trace.h). One load, store or atomic of a warp is a request.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "treadle/core/export.h"
#include "treadle/simt/check/report.h"

namespace treadle::simt {

enum class AccessKind : uint8_t { load, store, atomic };
enum class MemorySpace : uint8_t { global, shared };

/// One instruction that accesses memory, as all warps together ran it.
struct TREADLE_API AccessCounters {
  AccessKind kind = AccessKind::load;
  MemorySpace space = MemorySpace::global;
  uint64_t requests = 0;
  uint64_t lanes = 0;  ///< active ones of all requests
  uint64_t bytes = 0;  ///< that the lanes asked for
  // Global memory: 32-byte sectors that were moved; the fewest that hold as many different bytes; and those
  // that their block had not read before.
  uint64_t sectors = 0, ideal_sectors = 0, new_sectors = 0;
  // Shared memory: passes over its 32 banks, and the fewest for so many lanes of that size.
  uint64_t wavefronts = 0, ideal_wavefronts = 0;
  uint64_t rounds = 0;  ///< of atomics: the most lanes of a request with one address, added up

  void add(const AccessCounters& other);
};

struct TREADLE_API AccessSite {
  Place place;
  AccessCounters counters;
};

/// One stretch of instructions without jumps.
struct TREADLE_API BlockSite {
  uint64_t address = 0;  ///< in the program's file: behind the call that counts it
  uint64_t runs = 0;     ///< by warps
  uint64_t lanes = 0;    ///< active ones of all runs
};

enum class MeetingKind : uint8_t { barrier, collective };

/// A place where warps wait for one another, or lanes for one another.
struct TREADLE_API MeetingSite {
  Place place;
  MeetingKind kind = MeetingKind::barrier;
  uint64_t function = 0;  ///< of a collective: what combines the lanes' values, in the program's file
  uint64_t warps = 0;     ///< that have passed, each time counted
};

/// A kernel's launches with equal blocks.
struct TREADLE_API KernelCounters {
  std::string name;
  Coordinates block{1, 1, 1};
  Coordinates grid{1, 1, 1};  ///< of the largest launch
  uint64_t dynamic_shared_bytes = 0;
  uint64_t static_shared_bytes = 0;  ///< of the `__shared__` variables that were used
  uint64_t launches = 0, blocks = 0, warps = 0;
  /// Sectors that launches read or wrote once or more often, each counted once for a launch.
  uint64_t read_sectors = 0, written_sectors = 0;
  std::vector<AccessSite> accesses;
  std::vector<BlockSite> code;
  std::vector<MeetingSite> meetings;
};

struct TREADLE_API ProfileReport {
  uint64_t launches = 0;
  double seconds = 0;
  std::vector<KernelCounters> kernels;  ///< in the order of their first launches
};

TREADLE_API std::string to_json(const ProfileReport& report);
/// Throws FormatError for text that to_json did not write.
TREADLE_API ProfileReport profile_from_json(const std::string& text);

}  // namespace treadle::simt
