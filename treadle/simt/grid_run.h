/// One launch while it runs: its blocks, the workers that share them, the first failure.
///
/// A worker runs one block at a time, each on an OS thread that lends the block its thread-local
/// `__shared__` variables. A block that only waits for others is set aside: its OS thread sleeps, and another
/// of the same worker starts or resumes another block. So what waits for a later block gets it, with any
/// number of workers, and with one worker the same schedule always comes out.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "treadle/core/floating_point.h"
#include "treadle/simt/block_executor.h"
#include "treadle/simt/launch.h"
#include "treadle/simt/thread_order.h"

namespace treadle::TREADLE_TARGET {

/// The failure of the block that comes first in the order, of those that were run.
class FirstFailure {
 public:
  bool happened() const { return happened_; }
  void note(uint64_t position, std::exception_ptr failure);
  void rethrow();

 private:
  std::atomic<bool> happened_ = false;
  std::mutex mutex_;
  uint64_t position_ = 0;
  std::exception_ptr failure_;
};

/// Hands out positions of the block order, a few at a time.
class BlockQueue {
 public:
  struct Batch {
    uint64_t begin = 0, end = 0;
  };

  BlockQueue(uint64_t blocks, uint64_t workers);

  /// Takes the next position for the owner of `batch`; false when none is left.
  bool take(Batch& batch, uint64_t& position);
  bool empty() const { return next_.load(std::memory_order_relaxed) >= blocks_; }

 private:
  static constexpr uint64_t kMaxBatch = 16;
  uint64_t blocks_, batch_;
  std::atomic<uint64_t> next_ = 0;
};

class GridRun {
 public:
  GridRun(const KernelLaunch& launch, Schedule schedule, unsigned team);
  GridRun(const GridRun&) = delete;
  GridRun& operator=(const GridRun&) = delete;

  /// Takes part as a worker until no block is left.
  void work();
  void rethrow() { failure_.rethrow(); }
  bool failed() const { return failure_.happened(); }

 private:
  struct Worker;

  /// An OS thread of a worker, and the block on it.
  class Carrier final : public BlockHost {
   public:
    Carrier(GridRun& grid, Worker& worker) : grid_(grid), worker_(worker) {}
    bool next_block(uint64_t& block) override { return grid_.next_block(*this, block); }
    bool quiet(unsigned polls, bool asleep) override { return grid_.set_aside(*this, polls, asleep); }
    void lively() override { grid_.note_change(worker_); }
    Verdict spend(uint64_t nanoseconds) override { return grid_.spend(worker_, nanoseconds); }
    Meeting wait_for_grid() override { return grid_.wait_for_grid(*this); }

    GridRun& grid_;
    Worker& worker_;
    BlockExecutor* executor = nullptr;
    uint64_t position = 0;  ///< of its block
    bool runs = false;      ///< else it sleeps until it does
    bool released = false;  ///< it waited for the grid, which has met
    std::condition_variable turn;
  };

  /// One of its carriers runs at a time, and hands on to the next.
  struct Worker {
    BlockQueue::Batch batch;
    std::list<Carrier> carriers;  ///< the first is the worker's own thread; others are made when needed
    std::list<std::thread> threads;
    std::vector<Carrier*> aside;     ///< those that could run, and take turns
    std::vector<Carrier*> for_grid;  ///< those that wait for the grid
    size_t next_aside = 0;           ///< whose turn it is
    bool started_last = false;       ///< the last time there was a choice, a new block was to begin
    bool running = true;             ///< a carrier runs
    bool quiet = false;              ///< what it runs has changed nothing of late
    unsigned quiet_rounds = 0;       ///< since somebody changed something
    uint64_t done = 0;               ///< blocks
    uint64_t done_before = 0;        ///< when `spent` began
    uint64_t spent = 0;              ///< nanoseconds of the processor since a block ended
    unsigned live = 1;               ///< carriers that have not ended
    std::condition_variable alone;   ///< the first carrier is the last
  };

  void run_blocks(Carrier& carrier, bool has_block);
  void run_block(Carrier& carrier, uint64_t block);
  bool next_block(Carrier& carrier, uint64_t& block);
  void carry(Carrier& carrier);
  void leave(Carrier& carrier);
  void wait_until_alone(Worker& worker);

  bool set_aside(Carrier& carrier, unsigned polls, bool asleep);
  void note_change(Worker& worker);
  BlockHost::Verdict spend(Worker& worker, uint64_t nanoseconds);
  BlockHost::Meeting wait_for_grid(Carrier& carrier);
  void end_block();

  // All that follow need the mutex.
  Carrier* choose(Worker& worker);
  Carrier* find_aside(Worker& worker, Outlook outlook);
  Carrier* start_carrier(Worker& worker);
  void hand_to(Worker& worker, Carrier* next);
  void sleep(Carrier& carrier, std::unique_lock<std::mutex>& lock);
  void release_from_grid();
  void count_quiet(Worker& worker, unsigned polls, bool asleep);
  void count_change(Worker& worker);
  bool stuck() const;
  bool over_limit(const Worker& worker) const;
  [[noreturn]] void give_up(const Carrier& carrier, const char* why, std::unique_lock<std::mutex>& lock);
  std::string describe_waiting(const Carrier& carrier) const;
  bool more_blocks(const Worker& worker) const;

  const KernelLaunch& launch_;
  const Schedule schedule_;
  const double limit_ = limit();
  const uint64_t blocks_;
  const BlockOrder order_;
  const FloatingPointState floating_point_ = FloatingPointState::current();
  BlockQueue queue_;
  FirstFailure failure_;
  ScheduleRandom random_;

  std::mutex mutex_;
  std::list<Worker> workers_;
  unsigned carriers_ = 0;  ///< alive, of all workers
  bool no_more_threads_ = false;
  uint64_t vain_polls_ = 0;  ///< since somebody changed something
  unsigned waiting_for_grid_ = 0;
  uint64_t ended_ = 0;       ///< blocks
  bool impossible_ = false;  ///< the grid cannot meet: a block has ended
};

}  // namespace treadle::TREADLE_TARGET
