/// Values that only the data can get wrong, such as an index out of range: how the host learns what a kernel
/// found. Light: device files include it.
#pragma once

#include <cstdint>

#include "treadle/core/export.h"

namespace treadle {

/// The first value out of range that a kernel has met since the host last looked. It lies in memory that host
/// and device share: a kernel of a GPU cannot throw, so it takes note here, goes on without the value, and
/// the host throws when it waits for the device.
struct DataMistake {
  enum State : int { none, being_noted, noted };
  int state = none;
  /// The host's text; its three {} stand for value, position and bound.
  const char* message = nullptr;
  int64_t value = 0, position = 0, bound = 0;
};

/// Throws ValueError with `message`, its three {} filled in.
[[noreturn]] TREADLE_API void throw_data_mistake(const char* message, int64_t value, int64_t position,
                                                 int64_t bound);

/// Forgets the mistake that was noted, if there is one, and throws it.
inline void throw_if_noted(DataMistake& mistake) {
  if (__atomic_load_n(&mistake.state, __ATOMIC_ACQUIRE) != DataMistake::noted) return;
  const DataMistake first = mistake;
  __atomic_store_n(&mistake.state, DataMistake::none, __ATOMIC_RELEASE);
  throw_data_mistake(first.message, first.value, first.position, first.bound);
}

}  // namespace treadle
