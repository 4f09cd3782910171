/// Copies to shared memory that threads have begun and not waited for: they are made as late as they may be,
/// or at once.
#pragma once

#include <cstddef>
#include <vector>

#include "treadle/simt/target.h"

namespace treadle::TREADLE_TARGET {

struct BackgroundCopy {
  void* to;
  const void* from;
  unsigned bytes;  ///< written: 4, 8 or 16
  unsigned read;   ///< of them; zeros follow
  bool made = false;
};

void make(const BackgroundCopy& copy);

/// Of all threads of a block. Each thread's copies are made in the order in which they were begun.
class BackgroundCopies {
 public:
  void clear();
  bool empty() const { return open_ == 0; }

  void begin(unsigned thread, BackgroundCopy copy, bool at_once);
  /// What the thread has begun since the last time is a group.
  void commit(unsigned thread);
  /// The oldest groups arrive until `pending` are left.
  void wait(unsigned thread, unsigned pending);
  /// All of the thread's arrive, of a group or not.
  void finish(unsigned thread);

 private:
  struct Thread {
    std::vector<BackgroundCopy> copies;
    size_t arrived = 0;          ///< of `copies`
    std::vector<size_t> groups;  ///< where in `copies` each ends
    size_t done = 0;             ///< of `groups`
  };

  void arrive_until(Thread& thread, size_t end);

  std::vector<Thread> threads_;
  size_t open_ = 0;  ///< begun, and not arrived
};

}  // namespace treadle::TREADLE_TARGET
