/// cuda::barrier and cuda::pipeline.
#pragma once

#include "treadle/simt/toolkit/async_copies.h"
#include "treadle/simt/toolkit/scoped_atomics.h"

namespace treadle::TREADLE_TARGET::scoped {

/// Lies in shared memory and is nothing until init(). Its state is one number: phase, threads that are yet to
/// arrive, threads that are expected.
template <thread_scope scope = thread_scope_system>
class barrier {
 public:
  using arrival_token = unsigned;
  static constexpr ptrdiff_t max() { return 0xffff; }

  barrier() = default;
  explicit barrier(ptrdiff_t expected) { set_expected(expected); }
  barrier(const barrier&) = delete;

  void set_expected(ptrdiff_t expected) {
    state_ = static_cast<uint64_t>(expected) << 16 | static_cast<uint64_t>(expected);
  }

  /// The thread's background copies are done when it arrives.
  [[nodiscard]] arrival_token arrive(ptrdiff_t count = 1, Site site = Site::current()) {
    return arrive_with(static_cast<uint64_t>(count), 0, site);
  }
  void wait(arrival_token token, Site site = Site::current()) const {
    while (phase(site) == token) {
    }
  }
  /// Arrives while the thread's copies go on.
  void arrive_only(Site site) { count_arrival(1, 0, site); }
  void arrive_and_wait(Site site = Site::current()) { wait(arrive(1, site), site); }
  void arrive_and_drop(Site site = Site::current()) { arrive_with(1, 1, site); }
  bool try_wait(arrival_token token, Site site = Site::current()) const { return phase(site) != token; }
  /// Waits until `phases` phases are over.
  void wait_for_phases(unsigned phases, Site site) const {
    while (phase(site) < phases) {
    }
  }

 private:
  arrival_token arrive_with(uint64_t count, uint64_t dropped, Site site) {
    finish_copies();
    return count_arrival(count, dropped, site);
  }
  arrival_token count_arrival(uint64_t count, uint64_t dropped, Site site) {
    const uint64_t old =
        toolkit::change_ordered(&state_, __ATOMIC_ACQ_REL, scope_number(scope), site, [=](uint64_t state) {
          const uint64_t expected = (state & 0xffff) - dropped, missing = (state >> 16 & 0xffff) - count;
          const uint64_t phase = state >> 32;
          return missing == 0 ? (phase + 1) << 32 | expected << 16 | expected
                              : phase << 32 | missing << 16 | expected;
        });
    return static_cast<unsigned>(old >> 32);
  }
  unsigned phase(Site site) const {
    return static_cast<unsigned>(
        toolkit::load_ordered(&state_, __ATOMIC_ACQUIRE, scope_number(scope), site) >> 32);
  }

  uint64_t state_;
};

template <thread_scope scope>
void init(barrier<scope>* barrier, ptrdiff_t expected) {
  barrier->set_expected(expected);
}

template <size_t alignment>
struct aligned_size_t {
  static constexpr size_t align = alignment;
  size_t value;
  explicit constexpr aligned_size_t(size_t size) : value(size) {}
  constexpr operator size_t() const { return value; }
};

enum class pipeline_role { producer, consumer };

template <thread_scope scope, unsigned stages>
struct pipeline_shared_state {
  barrier<scope> full[stages], empty[stages];
  unsigned producers, consumers;
};

/// Stages of copies, first in, first out. Of one thread it counts groups of copies; of a group of threads
/// each stage has two barriers: full, where those that copy arrive, and empty, where those that read do.
template <thread_scope scope>
class pipeline {
 public:
  /// Of the calling thread alone.
  pipeline() = default;
  pipeline(barrier<scope>* full, barrier<scope>* empty, unsigned stages, bool produces, bool consumes)
      : full_(full), empty_(empty), stages_(stages), produces_(produces), consumes_(consumes) {}

  void producer_acquire(Site site = Site::current()) {
    if (full_ != nullptr && produces_ && committed_ >= stages_)
      empty_[committed_ % stages_].wait_for_phases(committed_ / stages_, site);
  }
  void producer_commit(Site site = Site::current()) {
    commit_copies();
    if (full_ != nullptr && produces_ && !consumes_) {
      wait_for_copies(0);
      static_cast<void>(full_[committed_ % stages_].arrive(1, site));
    }
    ++committed_;
  }
  void consumer_wait(Site site = Site::current()) {
    if (produces_) wait_for_copies(committed_ - consumed_ - 1);
    if (full_ == nullptr) return;
    auto& full = full_[consumed_ % stages_];
    if (produces_) full.arrive_only(site);
    full.wait_for_phases(consumed_ / stages_ + 1, site);
  }
  void consumer_release(Site site = Site::current()) {
    if (full_ != nullptr && consumes_) empty_[consumed_ % stages_].arrive_only(site);
    ++consumed_;
  }
  bool quit() { return true; }

 private:
  barrier<scope>*full_ = nullptr, *empty_ = nullptr;
  unsigned stages_ = 1, committed_ = 0, consumed_ = 0;
  bool produces_ = true, consumes_ = true;
};

inline pipeline<thread_scope_thread> make_pipeline() { return {}; }

namespace details {
template <class Group, thread_scope scope, unsigned stages>
pipeline<scope> make(const Group& group, pipeline_shared_state<scope, stages>* state, bool produces,
                     bool consumes, unsigned producers, unsigned consumers) {
  if (group.thread_rank() == 0)
    for (unsigned i = 0; i < stages; ++i) {
      init(&state->full[i], producers);
      init(&state->empty[i], consumers);
    }
  group.sync();
  return {state->full, state->empty, stages, produces, consumes};
}
}  // namespace details

/// All threads of the group copy and read.
template <class Group, thread_scope scope, unsigned stages>
pipeline<scope> make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state) {
  const auto threads = static_cast<unsigned>(group.size());
  return details::make(group, state, true, true, threads, threads);
}
/// The first `producers` threads copy, the others read.
template <class Group, thread_scope scope, unsigned stages>
pipeline<scope> make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state,
                              size_t producers) {
  const auto threads = static_cast<unsigned>(group.size()), copying = static_cast<unsigned>(producers);
  const bool produces = group.thread_rank() < copying;
  return details::make(group, state, produces, !produces, copying, threads - copying);
}
template <class Group, thread_scope scope, unsigned stages>
pipeline<scope> make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state,
                              pipeline_role role) {
  if (group.thread_rank() == 0) state->producers = state->consumers = 0;
  group.sync();
  const bool produces = role == pipeline_role::producer;
  atomicAdd(produces ? &state->producers : &state->consumers, 1u);
  group.sync();
  return details::make(group, state, produces, !produces, state->producers, state->consumers);
}

/// Waits until at most Prior of the last stages are unfinished.
template <unsigned Prior, thread_scope scope>
void pipeline_consumer_wait_prior(pipeline<scope>&) {
  wait_for_copies(Prior);
}

/// Part of the stage that is open, or of the barrier's phase.
template <class Group, class Synchronization>
void memcpy_async(const Group& group, void* target, const void* source, size_t bytes, Synchronization&,
                  Site site = Site::current()) {
  toolkit::copy_share(target, source, bytes, group.thread_rank(), group.size(), site);
}
template <class Synchronization>
void memcpy_async(void* target, const void* source, size_t bytes, Synchronization&,
                  Site site = Site::current()) {
  toolkit::copy_share(target, source, bytes, 0, 1, site);
}

}  // namespace treadle::TREADLE_TARGET::scoped
