/// The barrier between the blocks of a cooperative launch, each of which runs on an OS thread of its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "treadle/simt/target.h"

namespace treadle::TREADLE_TARGET {

class GridBarrier {
 public:
  explicit GridBarrier(unsigned blocks) : blocks_(blocks) {}

  /// Waits for all blocks. False when that cannot happen, since one has ended.
  bool arrive_and_wait() {
    std::unique_lock lock(mutex_);
    const uint64_t phase = phase_;
    ++waiting_;
    if (waiting_ == blocks_) open();
    if (waiting_ + ended_ == blocks_ && ended_ > 0) break_barrier();
    changed_.wait(lock, [&] { return phase_ != phase || broken_; });
    return phase_ != phase;
  }

  /// A block has ended or failed, and will not arrive again.
  void end_block() {
    const std::lock_guard lock(mutex_);
    ++ended_;
    if (waiting_ > 0 && waiting_ + ended_ == blocks_) break_barrier();
  }

 private:
  void open() {
    waiting_ = 0;
    ++phase_;
    changed_.notify_all();
  }

  void break_barrier() {
    broken_ = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned blocks_, waiting_ = 0, ended_ = 0;
  uint64_t phase_ = 0;
  bool broken_ = false;
};

}  // namespace treadle::TREADLE_TARGET
