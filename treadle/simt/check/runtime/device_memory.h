/// Device memory of checked programs: one region of addresses, so that what is known of a word is found by
/// its address; freed blocks are not given out again while there is other room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

#include "treadle/simt/check/runtime/shadow.h"

namespace treadle::checker {

/// Where the region lies: far from where Linux puts programs, heaps and libraries.
constexpr uintptr_t kRegionBegin = 0x100000000000u;
constexpr size_t kRegionBytes = size_t{1} << 36;

/// See cells.h.
extern Shadow device_shadow;

inline bool in_region(uintptr_t address) { return address - kRegionBegin < kRegionBytes; }
inline uint8_t* state_of(uintptr_t address) {
  return device_shadow.state + (address - kRegionBegin) / kWordBytes;
}
inline Cell* cell_of(uintptr_t address) {
  return device_shadow.cells + (address - kRegionBegin) / kWordBytes;
}

/// A block of device memory near an address: the one that holds it, or else the nearest before or after it.
struct Allocation {
  uint64_t number = 0;  ///< in order of allocation, from 1; 0: there is none near
  uintptr_t begin = 0;
  size_t bytes = 0;
  bool live = false;
  std::source_location where;
};
Allocation allocation_near(uintptr_t address);

/// Reserves the region and takes over the device's memory. Ends the process where addresses cannot be had.
void watch_device_memory();

/// Memory of the host's own that kernels may use.
void allow_host_memory(uintptr_t begin, size_t bytes);
void forbid_host_memory(uintptr_t begin);
bool is_allowed_host_memory(uintptr_t address);

/// Reports each block that is still live.
void report_leaks();

}  // namespace treadle::checker
