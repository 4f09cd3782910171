/// ReplayThreads: over how many threads the replays of one program are spread.
#pragma once

#include <vector>

#include "treadle/core/parallel_for.h"
#include "treadle/core/timing.h"

namespace treadle {

/// To begin a region of parallel_for and to bring what one thread has written to another costs 0.2 µs where
/// cores share a cache, and 0.8 to 1 µs was seen where they seem to lie on two dies. So it is measured:
/// replays are timed with all threads and with fewer, in turns, first after some replays and then now and
/// then, since threads wander and machines change. The parts that variants cut their work into stay those of
/// num_threads(), and with them the results. Programs of long regions always have all threads.
class ReplayThreads {
 public:
  /// Of no longer regions on average trials are made.
  static constexpr double kLongestRegion = 50e-6;
  static constexpr int kReplaysBeforeFirstTrial = 64;
  /// After a trial there are replays for so many times its duration.
  static constexpr double kRest = 256;

  /// In seconds since any moment.
  using Clock = double (*)();
  explicit ReplayThreads(Clock clock = &steady_seconds) : clock_(clock) {}

  /// Calls `replay` with as many threads as have been found best.
  template <class F>
  void run(F&& replay) {
    if (num_threads() != all_) begin_anew();
    const detail::RegionThreads scope(threads_);
    if (--left_ > 0) return replay();
    const int64_t regions_before = detail::regions();
    const double begin = clock_();
    replay();
    note(clock_() - begin, detail::regions() - regions_before);
  }

  /// How many threads replays have now.
  int threads() const { return all_ ? threads_ : num_threads(); }

 private:
  /// A number of threads, and what a replay takes with it.
  struct Candidate {
    int threads;
    double seconds;
  };

  void begin_anew();
  void rest(double replays);
  void begin_trial();
  void note(double seconds, int64_t regions);
  void end_candidate(double seconds);

  Clock clock_;
  int all_ = 0, threads_ = 0;
  int64_t left_ = 0;                   ///< replays until one is timed
  bool under_way_ = false;             ///< a trial
  bool tried_all_ = false;             ///< a trial has met each number of threads
  size_t turn_ = 0;                    ///< which number the next trial compares with
  std::vector<int> untried_;           ///< of the trial under way, the next one last
  std::vector<Candidate> candidates_;  ///< those that have been timed, the one that was best before first
  double trial_seconds_ = 0;
  std::vector<double> times_;  ///< of the one that is being timed
};

}  // namespace treadle
