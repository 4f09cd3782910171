/// A stack, and the CUDA thread that runs on it.
#pragma once

#include "treadle/simt/executor_calls.h"
#include "treadle/simt/fiber.h"

namespace treadle::TREADLE_TARGET {

/// What a thread found when it looked for another's change.
struct Polled {
  const void* address = nullptr;  ///< null where nothing is noted
  uint64_t value = 0;
  unsigned bytes = 0;
};

/// The places a thread has looked at last, in a loop perhaps.
struct PollRecord {
  uint64_t block = 0;        ///< that all this is of, counted by the executor
  uint64_t quiet_round = 0;  ///< of the block, in which the thread looked in vain
  Polled recent[4];
  unsigned next = 0;       ///< of `recent`, to be written
  unsigned elsewhere = 0;  ///< polls since the last that found the same again
  bool complete = false;   ///< all that the thread waits for is in `recent`
};

/// What a switch touches fits in one cache line.
struct alignas(64) Fiber {
  simt::FiberContext context;
  Fiber* next = nullptr;  ///< in the list it is in
  Site site;              ///< where it waits
  BuiltIn coordinates{};  ///< its threadIdx
  unsigned thread = 0;    ///< number within the block
  uint64_t result = 0;    ///< of the collective it waits for
  simt::FiberStack stack;
};

}  // namespace treadle::TREADLE_TARGET
