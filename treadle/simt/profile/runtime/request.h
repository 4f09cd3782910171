/// What one request of a warp costs: pure arithmetic on the addresses of its lanes.
#pragma once

#include <array>
#include <cstdint>

namespace treadle::profiler {

constexpr unsigned kLanes = 32;
/// What memory and caches move.
constexpr unsigned kSectorBytes = 32;

/// Lanes that are not in `mask` have any address.
struct Request {
  std::array<uint64_t, kLanes> address;
  uint32_t mask;   ///< the active lanes; not 0
  unsigned bytes;  ///< of one lane's access, at most 16
};

/// Sectors that a request of global memory touches.
struct SectorCost {
  unsigned count = 0;
  unsigned ideal = 0;                        ///< the fewest that hold as many different bytes
  std::array<uint64_t, 2 * kLanes> sectors;  ///< their numbers, address / 32, `count` of them
};
void find_sectors(const Request& request, SectorCost& cost);

/// Passes over shared memory: 32 banks of four bytes each give one word in a pass, to all lanes that want it.
/// Lanes with 8 bytes each are served in two halves of the warp, those with 16 in four quarters, each group
/// by itself. (CUDA C++ Programming Guide, "Shared Memory"; GPU Gems and later talks name the groups.)
struct WavefrontCost {
  unsigned count = 0;
  unsigned ideal = 0;  ///< one for each group with an active lane
};
WavefrontCost wavefronts_of(const Request& request);

/// The most active lanes that have the same address: how often an atomic unit must go over it.
unsigned rounds_of(const Request& request);

}  // namespace treadle::profiler
