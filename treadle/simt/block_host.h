/// What a block asks of those who run its grid.
#pragma once

#include <cstdint>

#include "treadle/simt/target.h"

namespace treadle::TREADLE_TARGET {

/// Calls come from the OS thread of the block that asks, of which one at a time runs for each worker. They
/// may let other blocks run, on other OS threads, before they return.
class BlockHost {
 public:
  BlockHost() = default;
  BlockHost(const BlockHost&) = delete;
  BlockHost& operator=(const BlockHost&) = delete;

  /// The number of another block to run; false when there is none.
  virtual bool next_block(uint64_t& block) = 0;
  /// Every thread of the block that does not wait has looked for a change in vain, `polls` of them; where
  /// some slept, `asleep`. False when the block is to be abandoned. Throws SimtError when the whole grid does
  /// nothing else.
  virtual bool quiet(unsigned polls, bool asleep) = 0;
  /// Something has changed since the block said that it is quiet.
  virtual void lively() = 0;

  enum class Verdict : uint8_t { go_on, abandon, too_long };
  /// The calling thread has had so many nanoseconds of the processor since the last call. Called in a handler
  /// of a signal.
  virtual Verdict spend(uint64_t nanoseconds) = 0;

  enum class Meeting : uint8_t { met, impossible, abandoned };
  /// Waits until all blocks of a cooperative grid have called it. `impossible`: a block has ended without.
  virtual Meeting wait_for_grid() = 0;

 protected:
  ~BlockHost() = default;
};

}  // namespace treadle::TREADLE_TARGET
