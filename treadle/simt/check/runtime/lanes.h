/// Which lanes of a warp have read a word: a bit for each where all have read the same bytes of it, else the
/// first one for each byte, since lanes that use bytes of their own are no race.
#pragma once

#include <bit>
#include <cstdint>

#include "treadle/simt/check/runtime/cells.h"

namespace treadle::checker {

/// In the mask of a cell's `read`: `lanes` has a byte for each of the word's, of these parts.
constexpr uint8_t kByBytes = 0x10;
constexpr unsigned kLane = 0x1F, kHasLane = 0x80;

inline bool is_by_bytes(const Cell& cell) { return (cell.read.mask & kByBytes) != 0; }

/// Calls call(lane) for each lane that is known to have read one of the mask's bytes, while it gives true.
template <class Call>
void for_each_lane(const Cell& cell, uint8_t mask, Call call) {
  if (!is_by_bytes(cell)) {
    for (uint32_t lanes = cell.lanes; lanes != 0; lanes &= lanes - 1)
      if (!call(static_cast<unsigned>(std::countr_zero(lanes)))) return;
    return;
  }
  for (unsigned byte = 0; byte < kWordBytes; ++byte) {
    const unsigned entry = cell.lanes >> 8 * byte & 0xFF;
    if ((mask >> byte & 1u) != 0 && (entry & kHasLane) != 0 && !call(entry & kLane)) return;
  }
}

/// One more lane has read the bytes of a mask.
inline void add_lane(Cell& cell, unsigned lane, uint8_t mask) {
  if (cell.read.mask == mask) {
    cell.lanes |= 1u << lane;
    return;
  }
  const auto put = [&](unsigned byte, unsigned entry) {
    cell.lanes = (cell.lanes & ~(0xFFu << 8 * byte)) | entry << 8 * byte;
  };
  if (!is_by_bytes(cell)) {
    const unsigned first = kHasLane | static_cast<unsigned>(std::countr_zero(cell.lanes));
    for (unsigned byte = 0; byte < kWordBytes; ++byte)
      put(byte, (cell.read.mask >> byte & 1u) != 0 ? first : 0);
  }
  for (unsigned byte = 0; byte < kWordBytes; ++byte)
    if ((mask >> byte & 1u) != 0 && (cell.lanes >> 8 * byte & kHasLane) == 0) put(byte, kHasLane | lane);
  cell.read.mask |= mask | kByBytes;
}

}  // namespace treadle::checker
