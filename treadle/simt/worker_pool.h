/// Threads that stay alive between launches and run one task at a time, all together.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "treadle/core/floating_point.h"
#include "treadle/simt/target.h"

namespace treadle::TREADLE_TARGET {

class WorkerPool {
 public:
  WorkerPool() = default;
  ~WorkerPool();

  /// Runs `task` on the calling thread and on `helpers` others; returns when all are done. `task` must not
  /// throw; it finds the caller's floating-point environment. When the pool is busy with another thread's
  /// task, the caller runs alone.
  void run(unsigned helpers, const std::function<void()>& task);

 private:
  void add_threads(unsigned count);
  void work();
  bool wait_for_task(uint64_t& seen);

  std::mutex busy_;  ///< held by the thread whose task runs
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> threads_;
  const std::function<void()>* task_ = nullptr;
  FloatingPointState floating_point_{};  ///< the caller's
  unsigned wanted_ = 0;                  ///< helpers that have yet to take the task
  unsigned working_ = 0;                 ///< helpers that have taken it and are not done
  uint64_t round_ = 0;
  bool stop_ = false;
};

}  // namespace treadle::TREADLE_TARGET
