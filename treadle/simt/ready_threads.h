/// The threads of a block that could go on: in order for most schedules, by chance for the random one.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "treadle/simt/block_fiber.h"
#include "treadle/simt/thread_order.h"

namespace treadle::TREADLE_TARGET {

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

/// The ready threads of a block by warp and lane. A warp that was chosen mostly goes on as far as it gets, so
/// that it runs ahead of its block: up to the next barrier, and through it where it is the last to come. Now
/// and then, and between some barriers always, each step is another warp's.
class ReadyByChance {
 public:
  void clear() {
    warps_ = 0;
    for (unsigned& lanes : lanes_) lanes = 0;
    forget_quiet();
    scattered_ = false;
    favourite_ = 0;
  }

  bool empty() const { return warps_ == 0; }

  void push(Fiber* fiber) {
    const unsigned thread = fiber->thread, warp = thread / 32;
    if (fibers_.size() <= thread) fibers_.resize(thread + 1);
    fibers_[thread] = fiber;
    lanes_[warp] |= 1u << thread % 32;
    warps_ |= 1u << warp;
  }

  /// A ready thread; one that is not quiet, if there is any. Null when none is ready.
  Fiber* pop(ScheduleRandom& random) {
    if (warps_ == 0) return nullptr;
    const unsigned lively = lively_warps();
    const unsigned candidates = lively != 0 ? lively : warps_;
    if ((candidates >> favourite_ & 1u) == 0 || scattered_ || random.below(kSteps) == 0)
      favourite_ = random_bit(candidates, random);
    const unsigned lanes = lanes_[favourite_] & ~(lively != 0 ? quiet_[favourite_] : 0u);
    return take(favourite_, random_bit(lanes, random));
  }

  /// The thread looks for a change in vain.
  void note_quiet(unsigned thread) { quiet_[thread / 32] |= 1u << thread % 32; }
  void forget_quiet() {
    for (unsigned& lanes : quiet_) lanes = 0;
  }

  /// Whether from now on each step is another warp's.
  void scatter(bool scattered) { scattered_ = scattered; }

  /// Calls f(fiber) for all that are ready.
  template <class F>
  void for_each(F f) const {
    for (unsigned warps = warps_; warps != 0; warps &= warps - 1) {
      const int warp = std::countr_zero(warps);
      for (unsigned lanes = lanes_[warp]; lanes != 0; lanes &= lanes - 1)
        f(fibers_[warp * 32 + std::countr_zero(lanes)]);
    }
  }

 private:
  static constexpr uint64_t kSteps = 4096;  ///< of one warp in a row, on average at most

  unsigned lively_warps() const {
    unsigned lively = 0;
    for (unsigned warps = warps_; warps != 0; warps &= warps - 1) {
      const int warp = std::countr_zero(warps);
      if ((lanes_[warp] & ~quiet_[warp]) != 0) lively |= 1u << warp;
    }
    return lively;
  }

  static unsigned random_bit(unsigned bits, ScheduleRandom& random) {
    for (uint64_t skip = random.below(static_cast<uint64_t>(std::popcount(bits))); skip > 0; --skip)
      bits &= bits - 1;
    return static_cast<unsigned>(std::countr_zero(bits));
  }

  Fiber* take(unsigned warp, unsigned lane) {
    lanes_[warp] &= ~(1u << lane);
    if (lanes_[warp] == 0) warps_ &= ~(1u << warp);
    return fibers_[warp * 32 + lane];
  }

  unsigned warps_ = 0;       ///< those with ready lanes
  unsigned lanes_[32] = {};  ///< of each warp: the ready ones
  unsigned quiet_[32] = {};  ///< of each warp
  std::vector<Fiber*> fibers_;
  unsigned favourite_ = 0;  ///< the warp that ran last
  bool scattered_ = false;
};

}  // namespace treadle::TREADLE_TARGET
