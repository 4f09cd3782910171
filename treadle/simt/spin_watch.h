/// Signals that come while a thread computes: so that one that waits without a call can let others run.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>

#include "treadle/simt/target.h"

namespace treadle::TREADLE_TARGET {

class BlockExecutor;

/// What was interrupted.
struct Interrupted {
  uintptr_t instruction = 0, stack = 0;
  uint64_t registers = 0;    ///< a hash of all of them; 0 where they are not known
  uint64_t nanoseconds = 0;  ///< of the processor that the thread has had so far
};

/// Timers of the thread that makes one. Every 10 ms of processor time that it spends while a block runs, the
/// block's executor is told. Where the system has no such timers, never.
///
/// A timer sends SIGURG. Its handler has a stack of its own, since the last signal of a grid comes after the
/// grid, and then the thread may be in code whose stack pointer is none (oneDNN's products of transposed
/// matrices point it at their buffer). If a kernel was interrupted, that handler sends SIGWINCH, whose
/// handler runs on the kernel's stack, so that the executor can switch to another fiber from there. Debuggers
/// pass both on, and without a handler neither does anything.
class SpinWatch {
 public:
  SpinWatch();
  ~SpinWatch();
  SpinWatch(const SpinWatch&) = delete;
  SpinWatch& operator=(const SpinWatch&) = delete;

  void start() {
    if (!started_) start_timer();
  }
  /// The next time comes soon.
  void hurry();

 private:
  static void handle_timer(int signal, siginfo_t* info, void* state);
  static void handle_on_fiber(int signal, siginfo_t* info, void* state);
  static void install_handlers();
  void start_timer();

  void* regular_ = nullptr;
  void* soon_ = nullptr;
  volatile bool exist_ = false, started_ = false;
};

/// Where the code lies that contains `function`.
struct TextRange {
  uintptr_t begin = 0, end = 0;
  bool contains(uintptr_t address) const { return address >= begin && address < end; }
};
TextRange text_around(const void* function);

/// The last places where a thread was interrupted, and what it had in its registers. Of a thread that only
/// waits, one comes back.
class Samples {
 public:
  void forget() { count_ = 0; }
  unsigned count() const { return count_; }

  /// Whether the same was there before. Less than kLeast nanoseconds of the processor after the last, it
  /// means nothing.
  bool seen(const Interrupted& sample) {
    if (sample.registers == 0 || (count_ > 0 && sample.nanoseconds - last_ < kLeast)) return false;
    last_ = sample.nanoseconds;
    for (unsigned i = 0; i < count_ && i < kKept; ++i)
      if (kept_[i].instruction == sample.instruction && kept_[i].registers == sample.registers) return true;
    kept_[count_++ % kKept] = sample;
    return false;
  }

 private:
  static constexpr unsigned kKept = 16;
  static constexpr uint64_t kLeast = 20'000;
  Interrupted kept_[kKept];
  unsigned count_ = 0;
  uint64_t last_ = 0;
};

}  // namespace treadle::TREADLE_TARGET
