#include "treadle/compile/replay_threads.h"

#include <algorithm>
#include <utility>

namespace treadle {
namespace {

/// Replays that bring data and threads to where they stay, and those that are timed behind them.
constexpr size_t kSettling = 6, kTimed = 9;
/// A number of threads is left only for one that is as much faster: less may be noise.
constexpr double kWorthAChange = 0.97;

/// All, half of them and so on, one.
std::vector<int> numbers_of_threads(int all) {
  std::vector<int> numbers{all};
  while (numbers.back() > 1) numbers.push_back(numbers.back() / 2);
  return numbers;
}

}  // namespace

void ReplayThreads::begin_anew() {
  all_ = threads_ = num_threads();
  tried_all_ = under_way_ = false;
  left_ = kReplaysBeforeFirstTrial;
}

/// For as long as a trial of so many replays asks for.
void ReplayThreads::rest(double replays) {
  under_way_ = false;
  left_ = int64_t(kRest * replays);
}

/// The first trial knows nothing and compares all numbers; later ones compare the best one with another.
void ReplayThreads::begin_trial() {
  untried_ = numbers_of_threads(all_);
  std::erase(untried_, threads_);
  if (std::exchange(tried_all_, true)) untried_ = {untried_[turn_++ % untried_.size()]};
  candidates_.clear();
  times_.clear();
  trial_seconds_ = 0;
  under_way_ = true;
}

void ReplayThreads::note(double seconds, int64_t regions) {
  if (!under_way_) {
    const bool long_regions = seconds > kLongestRegion * double(regions);
    return all_ == 1 || (threads_ == all_ && long_regions) ? rest(kSettling + kTimed) : begin_trial();
  }
  trial_seconds_ += seconds;
  times_.push_back(seconds);
  if (times_.size() == kSettling + kTimed) end_candidate(median({times_.begin() + kSettling, times_.end()}));
}

void ReplayThreads::end_candidate(double seconds) {
  candidates_.push_back({threads_, seconds});
  times_.clear();
  if (!untried_.empty()) {
    threads_ = untried_.back();
    untried_.pop_back();
    return;
  }
  const auto best = std::ranges::min_element(candidates_, {}, &Candidate::seconds);
  const bool worth_it = best->seconds < kWorthAChange * candidates_[0].seconds;
  const Candidate& chosen = worth_it ? *best : candidates_[0];
  threads_ = chosen.threads;
  rest(trial_seconds_ / chosen.seconds);
}

}  // namespace treadle
