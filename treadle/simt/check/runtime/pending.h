/// A race whose write is not done yet: it is one only if the write changes what is there.
#pragma once

#include "treadle/simt/check/runtime/block.h"

namespace treadle::checker {

struct Block::Pending {
  uintptr_t address;
  unsigned bytes;
  unsigned char before[16];
  simt::Report report;
  uint64_t place, other;
};

}  // namespace treadle::checker
