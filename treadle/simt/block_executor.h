/// Runs one block at a time on the calling OS thread: every CUDA thread that has to wait gets a fiber, the
/// others share one.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "treadle/simt/background_copies.h"
#include "treadle/simt/block_fiber.h"
#include "treadle/simt/block_host.h"
#include "treadle/simt/block_shared_memory.h"
#include "treadle/simt/executor.h"
#include "treadle/simt/fault_handler.h"
#include "treadle/simt/hooks.h"
#include "treadle/simt/launch.h"
#include "treadle/simt/ready_threads.h"
#include "treadle/simt/spin_watch.h"
#include "treadle/simt/warp.h"

namespace treadle::TREADLE_TARGET {

/// What there is for a block that was set aside, in rising order.
enum class Outlook : uint8_t { unchanged, unknown, changed };

class BlockExecutor {
 public:
  BlockExecutor();
  ~BlockExecutor();
  BlockExecutor(const BlockExecutor&) = delete;
  BlockExecutor& operator=(const BlockExecutor&) = delete;

  /// Prepares for the blocks of a launch. `host` must outlive them.
  void begin_grid(const KernelLaunch& launch, Schedule schedule, BlockHost& host);

  /// Runs the block with this number to its end, and, where blocks run as plain loops, those that the host
  /// gives next; throws what their threads threw.
  void run_block(uint64_t block);

  /// Around what the executor does for a running kernel: handlers of signals leave it alone meanwhile.
  void enter() {
    state_.store(State::busy, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  void leave() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    state_.store(State::lively, std::memory_order_relaxed);
  }

  // What the running thread asks for: see executor_calls.h and launch.h.
  void sync_block(Site site);
  unsigned meet_block(BlockBarrier kind, unsigned value, Site site);
  uint64_t meet_warp(unsigned mask, WarpCombine* combine, uint64_t value, unsigned operand, Site site);
  unsigned gather_lanes(Site site);
  void let_others_run(Site site);
  void give_way();
  void poll(const void* address, uint64_t value, unsigned bytes, Site site);
  void end_quiet();
  bool start_next_thread();
  void begin_copy(const BackgroundCopy& copy, Site site);
  void commit_copies();
  void wait_for_copies(unsigned pending);
  void finish_copies();
  [[noreturn]] void trap();
  [[noreturn]] void refuse_in_independent(const char* what, Site site);

  // For handlers of signals, on the thread that runs the block.

  /// Whether a stack pointer is in the running fiber's stack, or beyond its end.
  bool on_fiber(uintptr_t stack_pointer) const;
  void note_fault(const Fault& fault) { fault_ = fault; }
  char* fault_stack_top() const { return fault_stacks_.top(); }
  /// Whether a kernel's thread was interrupted, so that another may run in its place.
  bool may_switch_at(const Interrupted& where) const;
  /// From time to time, while threads compute.
  void tick(const Interrupted& where);
  const SpinWatch& spin_watch() const { return spin_watch_; }
  /// Ends the block by the fault that was noted.
  [[noreturn]] void end_by_fault();
  /// Ends the block by an assertion.
  [[noreturn]] void end_by_assertion(const char* file, unsigned line, const std::string& text);

  // For the host, while the block is set aside: the calling thread is another.

  /// The thread that runs, or ran last: its place, and its number within the block.
  const Fiber& running_thread() const { return *current_; }
  /// Whether a value that one of the block's threads waits for has changed.
  Outlook outlook() const;
  /// "threads 0-15 at file:line; thread 3 at …" by place; numbers are linear within the block.
  std::string waiting_threads() const;
  dim3 block() const { return block_; }
  /// With kernel and block in front.
  SimtError error(const std::string& problem) const;

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
  void run_fibers(Fiber* first);
  void run_plain_blocks();
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
  uint64_t suspend(Fiber* self, Fiber* next, uint64_t result);
  void switch_to_main();
  uint64_t park();
  uint64_t park_while_starting();
  uint64_t park_by_chance();
  void make_ready(Fiber* fiber);
  bool any_ready() const;
  Fiber* next_ready();

  [[noreturn]] void diverge(Site site);
  uint64_t wait_at_barrier();
  uint64_t open_barrier_and_park();
  void fold_barrier_value(unsigned value);
  void open_barrier();
  void wait_for_grid();

  void check_shared_guard();

  [[noreturn]] void refuse_mask(unsigned mask, Site site);
  Meeting& meeting_of(Warp& warp, unsigned mask, WarpCombine* combine);
  void report_different_places(const Meeting& meeting, Site site) const;
  void report_absent_lanes(Meeting& meeting) const;
  void complete(unsigned warp_number, Meeting& meeting);
  void end_lane(unsigned thread);
  void complete_without(Warp& warp, unsigned warp_number);
  bool release_gathered();
  const Fiber* earliest_gathered() const;

  void changed() {
    if (quiet_threads != 0) [[unlikely]]
      end_quiet();
  }
  void wait_quietly(bool asleep);
  void give_way(bool spins);
  [[noreturn]] void end_by_limit();
  void say_quiet();
  unsigned runnable() const;
  void begin_quiet_round();
  PollRecord& polls_of(unsigned thread);

  void fail(const hooks::Mistake& mistake, const char* kind = "");
  void set_failure(const std::string& problem);
  [[noreturn]] void abandon();
  [[noreturn]] uint64_t fail_by_deadlock();
  const Fiber* a_waiting_thread() const;
  std::string thread_name(unsigned thread) const;
  std::string running_thread_name() const;

  const KernelLaunch* launch_ = nullptr;
  Schedule schedule_;
  BlockHost* host_ = nullptr;
  bool by_chance_ = false;  ///< the schedule is random
  bool plain_ = false;      ///< the block runs as a plain loop, on one fiber
  dim3 block_;
  uint64_t blocks_begun_ = 0;

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
  FiberQueue ready_;               ///< unless the schedule is random
  ReadyByChance ready_by_chance_;  ///< else

  std::vector<PollRecord> polls_;  ///< by thread, as far as any has polled
  uint64_t quiet_round_ = 1;       ///< a new one begins with every change
  bool asleep_ = false;            ///< in this round, a thread slept
  bool spins_ = false;             ///< in this round, a thread was found in a loop that does nothing

  /// busy: the executor works; lively: a thread runs, since the last tick; computing: it has called nothing
  /// since
  enum class State : uint8_t { busy, lively, computing };
  std::atomic<State> state_ = State::busy;
  SpinWatch spin_watch_;
  Samples samples_;
  uint64_t last_tick_ = 0, computing_since_ = 0;  ///< nanoseconds of the processor
  const void* text_of_ = nullptr;                 ///< a kernel
  TextRange text_;                                ///< around it

  FiberQueue at_barrier_;
  unsigned arrived_ = 0;
  BlockBarrier barrier_kind_ = BlockBarrier::plain;
  unsigned barrier_value_ = 0;

  std::vector<Warp> warps_;
  FiberQueue gathered_;       ///< threads that wait for lanes of their warp to be where they are
  unsigned in_meetings_ = 0;  ///< threads that wait in one, or are gathered
  BlockSharedMemory shared_memory_;
  bool fills_shared_ = false;
  BackgroundCopies copies_;
  bool copies_early_ = false;
  std::exception_ptr failure_;
  Fault fault_;
  FaultStacks fault_stacks_;
  bool abandoned_ = false;  ///< threads were left where they stood
};

/// The kernel's name out of a launch's signature.
std::string kernel_name(const char* signature);

}  // namespace treadle::TREADLE_TARGET
