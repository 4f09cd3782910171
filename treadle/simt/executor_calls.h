/// What a running kernel asks of the executor. Kernels use the CUDA names of barrier.h, warp.h and
/// cooperative_groups.h.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <source_location>

#include "treadle/simt/built_ins.h"

namespace treadle::TREADLE_TARGET {

/// Where a kernel calls a barrier or a collective.
using Site = std::source_location;

enum class BlockBarrier : uint8_t { plain, count, all, any, grid };

/// What the lanes of a warp bring to a collective and take from it; arrays are indexed by lane.
struct WarpExchange {
  unsigned present;      ///< lanes that take part
  unsigned operand[32];  ///< per lane: the collective's own parameter
  uint64_t value[32];    ///< in: the lane's value
  uint64_t result[32];   ///< out
  unsigned absent = 0;   ///< out: lanes that asked for the value of one that does not take part
};
/// Computes the results of all present lanes; runs once, when the last lane has arrived.
using WarpCombine = void(WarpExchange&);

/// Waits until all threads of the block that have not returned have arrived.
void sync_block(Site site);

/// As sync_block. Returns the sum, conjunction or disjunction of
/// `value` for count, all and any.
unsigned meet_block(BlockBarrier kind, unsigned value, Site site);

/// Waits until all lanes of `mask` that have not returned call it with the same mask and `combine`.
uint64_t meet_warp(unsigned mask, WarpCombine* combine, uint64_t value, unsigned operand, Site site);

/// Waits until no other thread of the block can go on without this one, and returns the lanes of its warp
/// that wait at the same place: those that a GPU would run together. The calling lane alone outside of a
/// block with threads that can wait.
unsigned gather_lanes(Site site);

/// Lets other threads run, of other blocks too where those of this one do the same.
void let_others_run(Site site);

/// Tells that the running thread has found `value` in the `bytes` at `address` and has changed nothing there:
/// it may be waiting. Where it finds the same again and again, others run first. What nobody will ever
/// change ends the grid with SimtError.
void poll(const void* address, uint64_t value, unsigned bytes, Site site);

/// The same for a volatile load of code that is checked: looks at the memory itself.
void poll(const void* address, unsigned bytes);

void end_quiet();

/// Tells that the running thread has changed something that others may wait for.
inline void note_change() {
  if (quiet_threads != 0) [[unlikely]]
    end_quiet();
}

/// Begins a copy of `bytes` (4, 8 or 16) to shared memory in the background, of which `read` are read and the
/// rest are zeros. Both addresses must be multiples of `bytes`. What it copies arrives when a wait says so.
void begin_copy(void* shared, const void* global, unsigned bytes, unsigned read, Site site);
/// The copies begun since the last call are a group.
void commit_copies();
/// Waits until at most `pending` of the running thread's groups are unfinished.
void wait_for_copies(unsigned pending);
/// Waits for all copies of the running thread, those of no group too.
void finish_copies();

inline unsigned lane_index() { return linear_thread_index() % warpSize; }

template <class T>
uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= 8, "warp collectives take types of at most 8 bytes");
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
T from_bits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace treadle::TREADLE_TARGET
