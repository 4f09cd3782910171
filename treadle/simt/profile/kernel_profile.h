/// The counters of a kernel by source line.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "treadle/core/export.h"
#include "treadle/simt/profile/report.h"

namespace treadle::simt {

/// Floating-point operations of one precision.
struct TREADLE_API Arithmetic {
  uint64_t additions = 0;  ///< and subtractions
  uint64_t products = 0;
  uint64_t fused = 0;      ///< fma(): two operations each
  uint64_t divisions = 0;  ///< and square roots

  uint64_t operations() const { return additions + products + 2 * fused + divisions; }
  void add(const Arithmetic& other, uint64_t times = 1);
};

/// What was counted at one line, or at all of them.
struct TREADLE_API LineCounters {
  /// By MemorySpace and AccessKind.
  std::array<std::array<AccessCounters, 3>, 2> memory;
  Arithmetic single, twice;                ///< float and narrower; double
  uint64_t functions = 0;                  ///< exp, log, sin and their kin
  uint64_t tensor_operations = 0;          ///< two for each product that is added
  uint64_t barriers = 0, collectives = 0;  ///< by warps
  /// Instructions of the processor that were counted on, each once for a warp and once for each active lane.
  uint64_t warp_instructions = 0, lane_instructions = 0;

  AccessCounters& of(MemorySpace space, AccessKind kind) { return memory[size_t(space)][size_t(kind)]; }
  const AccessCounters& of(MemorySpace space, AccessKind kind) const {
    return memory[size_t(space)][size_t(kind)];
  }
  /// Loads, stores and atomics together.
  AccessCounters all_of(MemorySpace space) const;
  uint64_t atomics() const;  ///< requests
  uint64_t operations() const { return single.operations() + twice.operations(); }
  /// Of 32 lanes, how many took part on average; 0 where nothing is known.
  double active_lanes() const;
  void add(const LineCounters& other);
};

struct TREADLE_API Line {
  std::string file;
  unsigned line = 0;
  LineCounters counters;
};

struct TREADLE_API KernelProfile {
  KernelCounters launches;  ///< without places
  std::vector<Line> lines;  ///< by file and line
  LineCounters total;
};

}  // namespace treadle::simt
