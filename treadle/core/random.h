/// Generator: a seed and a position in the endless sequence of random numbers that belongs to it.
#pragma once  // public

#include <cstdint>

#include "treadle/core/export.h"

namespace treadle {

/// Random numbers are a function of seed and position (Philox4x32-10), equal on every device and for any
/// number of threads. A position counts blocks of four 32-bit numbers. One generator is used by one thread at
/// a time.
class TREADLE_API Generator {
 public:
  explicit Generator(uint64_t seed = 0, uint64_t offset = 0) : seed_(seed), offset_(offset) {}

  uint64_t seed() const { return seed_; }
  uint64_t offset() const { return offset_; }
  /// Starts the sequence of another seed.
  void set_seed(uint64_t seed) { seed_ = seed, offset_ = 0; }
  void set_offset(uint64_t offset) { offset_ = offset; }
  /// Sets aside `count` numbers, rounded up to whole blocks, and returns the offset of the first block.
  uint64_t advance(int64_t count);

 private:
  uint64_t seed_, offset_;
};

/// The process's generator, with seed 0 at start; used where none is given.
TREADLE_API Generator& default_generator();

}  // namespace treadle
