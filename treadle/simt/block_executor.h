/// Runs one block at a time on the calling OS thread: every CUDA thread that has to wait gets a fiber, the
/// others share one.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "treadle/simt/executor.h"
#include "treadle/simt/fiber.h"
#include "treadle/simt/grid_barrier.h"
#include "treadle/simt/launch.h"
#include "treadle/simt/thread_order.h"
#include "treadle/simt/warp.h"

namespace treadle::TREADLE_TARGET {

/// A stack, and the CUDA thread that runs on it now. What a switch touches fits in one cache line.
struct alignas(64) Fiber {
  simt::FiberContext context;
  Fiber* next = nullptr;  ///< in the list it is in
  Site site;              ///< where it waits
  BuiltIn coordinates{};  ///< its threadIdx
  unsigned thread = 0;    ///< number within the block
  uint64_t result = 0;    ///< of the collective it waits for
  simt::FiberStack stack;
};

/// First in, first out.
class FiberQueue {
 public:
  bool empty() const { return first_ == nullptr; }
  Fiber* first() const { return first_; }

  void push(Fiber* fiber) {
    fiber->next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = fiber;
    last_ = fiber;
  }

  Fiber* pop() {
    Fiber* fiber = first_;
    if (fiber != nullptr) first_ = fiber->next;
    return fiber;
  }

  /// Moves all of `other` to the end.
  void append(FiberQueue& other) {
    if (other.empty()) return;
    (empty() ? first_ : last_->next) = other.first_;
    last_ = other.last_;
    other.first_ = nullptr;
  }

  void clear() { first_ = nullptr; }

 private:
  Fiber* first_ = nullptr;
  Fiber* last_ = nullptr;  // meaningful unless empty
};

class BlockExecutor {
 public:
  BlockExecutor();
  ~BlockExecutor();
  BlockExecutor(const BlockExecutor&) = delete;
  BlockExecutor& operator=(const BlockExecutor&) = delete;

  /// Prepares for the blocks of a launch. `grid_barrier` is null unless the launch is cooperative.
  void begin_grid(const KernelLaunch& launch, Schedule schedule, GridBarrier* grid_barrier);

  /// Runs the block with this number to its end; rethrows what its threads threw.
  void run_block(uint64_t block);

  bool running() const { return running_; }

  // What the running thread asks for: see executor_calls.h and launch.h.
  void sync_block(Site site);
  unsigned meet_block(BlockBarrier kind, unsigned value, Site site);
  uint64_t meet_warp(unsigned mask, WarpCombine* combine, uint64_t value, unsigned operand, Site site);
  void let_others_run();
  bool start_next_thread();
  [[noreturn]] void throw_trap() const;

 private:
  /// The lanes that have arrived at one collective.
  struct Meeting {
    unsigned mask = 0;
    WarpCombine* combine = nullptr;
    WarpExchange exchange{};  ///< `present` is 0 when the record is free
    Fiber* fiber[32] = {};
  };
  struct Warp {
    unsigned ended = 0;  ///< lanes that have returned or never were
    unsigned open = 0;   ///< meetings that some lanes have arrived at
    std::vector<Meeting> meetings;
  };

  static void fiber_entry();
  [[noreturn]] void run_fiber();
  void run_threads_of_fiber();
  void leave_fiber();

  void begin_block(uint64_t block);
  void run_plain_block();
  void run_fibers();
  void set_block_built_ins(uint64_t block);
  void order_threads(uint64_t block);
  unsigned reordered_thread(unsigned position) const;
  BuiltIn coordinates_of(unsigned thread) const;
  void advance_coordinates();

  Fiber* free_fiber();
  Fiber* add_fiber();
  void start_thread(Fiber* fiber);
  void make_current(Fiber* fiber);
  void give_back_stacks();
  uint64_t switch_to(Fiber* fiber);
  void switch_to_main();
  uint64_t park();
  uint64_t park_on_fresh_fiber();
  uint64_t park_for_held_warp();
  Fiber* next_ready();

  [[noreturn]] void diverge(Site site) const;
  uint64_t wait_at_barrier();
  uint64_t open_barrier_and_park();
  void fold_barrier_value(unsigned value);
  void open_barrier();
  void shuffle_waiters();
  void release_in_random_order();
  void release_held_warp();
  void wait_for_grid();

  [[noreturn]] void refuse_mask(unsigned mask, Site site) const;
  Meeting& meeting_of(Warp& warp, unsigned mask, WarpCombine* combine);
  void report_different_places(const Meeting& meeting, Site site) const;
  void complete(unsigned warp_number, Meeting& meeting);
  void end_lane(unsigned thread);
  void complete_without(Warp& warp, unsigned warp_number);

  SimtError error(const std::string& problem) const;
  SimtError deadlock() const;
  uint64_t throw_deadlock() const;
  std::string waiting_threads() const;
  std::string thread_name(unsigned thread) const;

  const KernelLaunch* launch_ = nullptr;
  Schedule schedule_;
  GridBarrier* grid_barrier_ = nullptr;
  bool running_ = false;

  unsigned threads_ = 0;         ///< of the block
  unsigned started_ = 0;         ///< so far
  unsigned alive_ = 0;           ///< not yet returned
  BuiltIn next_coordinates_{};   ///< forward schedule only: of the next thread to start
  std::vector<unsigned> order_;  ///< random schedule only
  ScheduleRandom random_{0};

  simt::FiberContext main_;
  Fiber* current_ = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> free_fibers_;
  std::vector<Fiber*> shuffled_;
  FiberQueue ready_;
  FiberQueue held_;  ///< random schedule only: whole warps that go on when nothing is ready

  FiberQueue at_barrier_;
  unsigned arrived_ = 0;
  BlockBarrier barrier_kind_ = BlockBarrier::plain;
  unsigned barrier_value_ = 0;

  std::vector<Warp> warps_;
  struct FreeMemory {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, FreeMemory> shared_memory_;
  size_t shared_capacity_ = 0;
  std::exception_ptr failure_;
};

/// Gives the calling thread's dynamic shared memory where it is not the executor's to allocate: programs have
/// an area of their own.
extern std::atomic<void* (*)()> own_dynamic_shared;

/// The kernel's name out of a launch's signature.
std::string kernel_name(const char* signature);

}  // namespace treadle::TREADLE_TARGET
