/// CapturedLock: keeps programs that read captured tensors apart from programs that write into them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "treadle/compile/program.h"

namespace treadle {

/// Readers share it; a writer waits for those that are there, and those that come wait for the writer.
class SharedLock {
 public:
  void lock_shared();
  void unlock_shared() { mutex_.unlock_shared(); }
  void lock();
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex entrance_;
  std::shared_mutex mutex_;
};

/// The locks of what one instance of a program captures. Only tensors that some living program writes have
/// one, mostly one for a whole model: where nothing is trained, nothing is locked.
class CapturedLock {
 public:
  /// A program that writes waits here for replays of others that have begun without its lock.
  explicit CapturedLock(const Program& program);
  ~CapturedLock();
  CapturedLock(const CapturedLock&) = delete;
  CapturedLock& operator=(const CapturedLock&) = delete;

  /// Reads from its beginning, writes from write() on, until it ends. One at a time.
  class Hold {
   public:
    explicit Hold(CapturedLock& lock);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    void write();

   private:
    CapturedLock& lock_;
    bool writes_ = false;
  };

 private:
  friend struct LockTable;
  void refresh();

  std::vector<IntrusivePtr<Storage>> captured_;
  uint64_t seen_ = 0;                               ///< changes of the table
  std::vector<std::shared_ptr<SharedLock>> locks_;  ///< in an order that is the same for all
  /// Rises when a Hold begins and when it ends: odd while there is one.
  std::shared_ptr<std::atomic<uint64_t>> holds_ = std::make_shared<std::atomic<uint64_t>>(0);
};

}  // namespace treadle
