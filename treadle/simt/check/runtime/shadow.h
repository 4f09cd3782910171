/// What is remembered beside a stretch of memory: a state and a cell for each of its words.
#pragma once

#include <cstddef>
#include <cstdint>

#include "treadle/simt/check/runtime/cells.h"

namespace treadle::checker {

/// Addresses whose memory the system gives as it is touched; at `address` unless that is null. Ends the
/// process where they cannot be had, and says for what.
void* reserve_addresses(size_t bytes, const char* what, void* address = nullptr);

struct Shadow {
  uintptr_t begin = 0;
  size_t bytes = 0;
  uint8_t* state = nullptr;
  Cell* cells = nullptr;

  bool holds(uintptr_t address) const { return address - begin < bytes; }
  size_t word(uintptr_t address) const { return (address - begin) / kWordBytes; }

  /// For stretches of up to `most` bytes.
  void reserve(size_t most);
  void release(size_t most);
  /// Marks the words of [offset, offset + count) as accessible, as far as they are.
  void allow(size_t offset, size_t count);
};

/// Of shared memory: also which words the block has touched.
struct SharedShadow : Shadow {
  size_t used_begin = SIZE_MAX, used_end = 0;

  void note_used(size_t first, size_t end) {
    if (first < used_begin) used_begin = first;
    if (end > used_end) used_end = end;
  }
};

}  // namespace treadle::checker
