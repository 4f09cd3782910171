/// Settings and errors of the SIMT executor, for host code.
#pragma once

#include <cstdint>
#include <string>

#include "treadle/core/error.h"
#include "treadle/simt/target.h"

namespace treadle::TREADLE_TARGET {

/// Threads that wait for one another forever, a barrier reached at different places, a bad mask, a trap. The
/// message names kernel, block, threads and source lines. The grid is abandoned; the executor stays usable.
struct TREADLE_API SimtError : DeviceError {
  using DeviceError::DeviceError;
};

enum class ScheduleOrder : uint8_t { forward, reverse, random };

/// In which order blocks and threads are started, and in which order a barrier's threads go on; the random
/// one lets warps run ahead of their block now and then. A correct kernel gives the same result under every
/// schedule, but for the order of atomics.
struct Schedule {
  ScheduleOrder order = ScheduleOrder::forward;
  uint64_t seed = 0;
  bool operator==(const Schedule&) const = default;
};

/// "forward", "reverse" or "random:SEED". Throws ValueError for other text.
TREADLE_API Schedule parse_schedule(const std::string& text);

/// The schedule of launches from now on. At start: the environment's TREADLE_SIMT_SCHEDULE, else forward.
TREADLE_API void set_schedule(Schedule schedule);
TREADLE_API Schedule schedule();

/// How many threads run a grid's blocks, the launching one included; at least 1. At start: the environment's
/// TREADLE_SIMT_WORKERS, else the number of cores. Throws ValueError for less than 1.
TREADLE_API void set_workers(unsigned count);
TREADLE_API unsigned workers();

/// How often threads may look for a change in vain, all together and while nothing else happens, before their
/// grid ends with SimtError: at start some 4 million, a fraction of a second.
TREADLE_API void set_patience(uint64_t polls);
TREADLE_API uint64_t patience();

/// How many seconds of the processor a worker may spend without a block coming to its end, before the grid
/// ends with SimtError; 0 for any. At start: the environment's TREADLE_SIMT_LIMIT, else 60. Throws ValueError
/// for less than 0. Kept on Linux, x86-64 and AArch64.
TREADLE_API void set_limit(double seconds);
TREADLE_API double limit();

}  // namespace treadle::TREADLE_TARGET
