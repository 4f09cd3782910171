/// What is remembered of each word of memory: who wrote it last, and who has read it since.
///
/// After FastTrack (Flanagan and Freund, 2009): one write and few reads are enough, because what was ordered
/// before them stays ordered before all that follows them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace treadle::checker {

/// How an access was made. Volatile accesses count as relaxed atomics that every thread sees, except between
/// threads of a warp: code that relies on a warp's steps being taken together is a mistake since Volta.
/// What a background copy writes is in flight until a wait: nothing is ordered behind it.
enum class AccessKind : uint8_t { plain, in_flight, is_volatile, atomic_block, atomic_device, atomic_system };

constexpr unsigned kWordBytes = 4;

/// One access. `epoch` numbers the stretches between a block's barriers, over all blocks and launches, so
/// that it tells block and launch, too; 0: none.
struct Record {
  uint32_t epoch = 0;
  uint32_t pc = 0;      ///< from the program's first byte
  uint32_t clock = 0;   ///< of the lane: how often its warp had met at __syncwarp
  uint32_t fences = 0;  ///< that the thread had passed
  uint16_t thread = 0;  ///< number within the block
  AccessKind kind = AccessKind::plain;
  uint8_t mask = 0;  ///< bytes of the word
};

/// A word of shared or device memory; one line of the cache.
struct Cell {
  Record write;
  Record read;         ///< a thread of one warp …
  uint32_t lanes = 0;  ///< … and all its lanes that have read since; see lanes.h
  Record other_read;   ///< of another warp, of another block where there is one
};
static_assert(sizeof(Record) == 20 && sizeof(Cell) == 64);

/// A byte of state for each word: which bytes may be accessed (upper half) and have been written (lower
/// half). A word that was freed has no upper half and all of the lower.
constexpr uint8_t kFreed = 0x0F;

/// The bytes of a word that [first, first + bytes) covers, both counted from the word.
inline uint8_t word_mask(size_t first, size_t bytes) {
  const size_t end = first + bytes;
  return static_cast<uint8_t>((0x0Fu << first) & (end >= kWordBytes ? 0x0Fu : (1u << end) - 1));
}

inline uint8_t accessible(uint8_t state) { return state >> 4; }
inline uint8_t initialised(uint8_t state) { return state & 0x0F; }

}  // namespace treadle::checker
