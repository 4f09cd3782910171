#include "treadle/simt/worker_pool.h"

namespace treadle::TREADLE_TARGET {

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::run(unsigned helpers, const std::function<void()>& task) {
  std::unique_lock busy(busy_, std::try_to_lock);
  if (helpers == 0 || !busy.owns_lock()) return task();
  {
    const std::lock_guard lock(mutex_);
    add_threads(helpers);
    task_ = &task;
    floating_point_ = FloatingPointState::current();
    wanted_ = helpers;
    ++round_;
  }
  wake_.notify_all();
  task();
  std::unique_lock lock(mutex_);
  wanted_ = 0;  // whoever has not begun by now would find nothing to do
  done_.wait(lock, [&] { return working_ == 0; });
  task_ = nullptr;
}

void WorkerPool::add_threads(unsigned count) {
  while (threads_.size() < count) threads_.emplace_back([this] { work(); });
}

void WorkerPool::work() {
  uint64_t seen = 0;
  while (wait_for_task(seen)) {
    floating_point_.apply();
    (*task_)();
    const std::lock_guard lock(mutex_);
    if (--working_ == 0) done_.notify_all();
  }
}

/// Takes part in the next round that wants helpers; false when the pool ends.
bool WorkerPool::wait_for_task(uint64_t& seen) {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return stop_ || (round_ != seen && wanted_ > 0); });
  if (stop_) return false;
  seen = round_;
  --wanted_;
  ++working_;
  return true;
}

}  // namespace treadle::TREADLE_TARGET
