/// Copies to shared memory that threads have begun and not waited for: they are made as late as they may be.
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
};

void make(const BackgroundCopy& copy);

/// Of all threads of a block. Each thread's copies are made in the order in which they were begun.
class BackgroundCopies {
 public:
  void clear();
  bool empty() const { return unmade_ == 0; }

  void begin(unsigned thread, const BackgroundCopy& copy);
  /// What the thread has begun since the last time is a group.
  void commit(unsigned thread);
  /// Makes the oldest groups until `pending` are left.
  void wait(unsigned thread, unsigned pending);
  /// Makes all of the thread's, of a group or not.
  void finish(unsigned thread);

 private:
  struct Thread {
    std::vector<BackgroundCopy> copies;
    size_t made = 0;             ///< of `copies`
    std::vector<size_t> groups;  ///< where in `copies` each ends
    size_t done = 0;             ///< of `groups`
  };

  void make_until(Thread& thread, size_t end);

  std::vector<Thread> threads_;
  size_t unmade_ = 0;
};

}  // namespace treadle::TREADLE_TARGET
