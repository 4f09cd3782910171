/// Prefetcher: makes items ahead of the one who takes them, on threads, in order.
#pragma once  // public

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "treadle/core/affinity.h"
#include "treadle/core/error.h"

namespace treadle {

/// An endless sequence of items. A job says what an item is made of; jobs are planned one after another and
/// items made of them by whichever thread is free. Up to `ahead` items wait or are being made. Threads that
/// have filled that room rest until half of it is free, so that not every item wakes one.
template <class Job, class Item>
class Prefetcher {
 public:
  /// `make` is called by several threads at once, `plan` by one at a time. Throws ValueError where threads or
  /// room are not positive.
  Prefetcher(std::function<Job()> plan, std::function<Item(const Job&)> make, int threads, int64_t ahead)
      : plan_(std::move(plan)), make_(std::move(make)), ahead_(size_t(ahead)) {
    require<ValueError>(threads > 0, "a prefetcher cannot have {} threads", threads);
    require<ValueError>(ahead > 0, "a prefetcher with threads needs room for an item, not {}", ahead);
    try {
      for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
    } catch (...) {
      end_threads();
      throw;
    }
  }
  /// Waits for the items that are being made.
  ~Prefetcher() { end_threads(); }
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// The next item. Rethrows what making it threw, then and in every later call. Not for several threads at
  /// once.
  Item next() {
    std::unique_lock lock(mutex_);
    item_is_made_.wait(lock, [&] { return !slots_.empty() && slots_.front()->is_made(); });
    if (slots_.front()->fault) std::rethrow_exception(slots_.front()->fault);
    const std::shared_ptr<Slot> slot = std::move(slots_.front());
    slots_.pop_front();
    const bool wake = resting_ && slots_.size() <= ahead_ / 2;
    if (wake) resting_ = false;
    lock.unlock();
    if (wake) room_is_free_.notify_all();
    return std::move(*slot->item);
  }

 private:
  struct Slot {
    std::optional<Item> item;
    std::exception_ptr fault;
    bool is_made() const { return item || fault; }
  };

  void work() {
    detail::use_all_cores();
    std::unique_lock lock(mutex_);
    while (wait_for_room(lock)) {
      const auto slot = slots_.emplace_back(std::make_shared<Slot>());
      fill(*slot, lock);
      if (slot->fault) ended_ = true;  // nobody gets behind it
      if (!slots_.empty() && slots_.front() == slot) item_is_made_.notify_one();
    }
  }

  /// Whether there is more to do. Who wakes asks again: others that woke before may have filled the room.
  bool wait_for_room(std::unique_lock<std::mutex>& lock) {
    while (!ended_) {
      if (slots_.size() >= ahead_) resting_ = true;
      if (!resting_) return true;
      room_is_free_.wait(lock);
    }
    return false;
  }

  /// Makes the item without the lock.
  void fill(Slot& slot, std::unique_lock<std::mutex>& lock) {
    std::optional<Item> item;
    std::exception_ptr fault;
    try {
      const Job job = plan_();
      lock.unlock();
      item.emplace(make_(job));
    } catch (...) {
      fault = std::current_exception();
    }
    if (!lock.owns_lock()) lock.lock();
    slot.item = std::move(item);
    slot.fault = fault;
  }

  void end_threads() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    room_is_free_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  const std::function<Job()> plan_;
  const std::function<Item(const Job&)> make_;
  const size_t ahead_;
  std::mutex mutex_;
  std::condition_variable item_is_made_, room_is_free_;
  std::deque<std::shared_ptr<Slot>> slots_;  ///< planned and not taken yet, in order
  bool resting_ = false, ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace treadle
