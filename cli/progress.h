/// Progress of a training run: a bar on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <string>

#include "treadle/train/fit.h"

namespace treadle::cli {

class Progress {
 public:
  /// `quiet`: print nothing. `on_terminal`: redraw a bar on stderr after steps.
  Progress(bool quiet, bool on_terminal) : quiet_(quiet), bar_(on_terminal && !quiet) {}
  ~Progress();
  void step(const StepReport& report);
  void epoch(const EpochReport& report);
  /// Removes the bar.
  void clear();

 private:
  /// What fits into `width` columns: the bar and the rate go first.
  std::string line(const StepReport& report, int width) const;

  bool quiet_, bar_, drawn_ = false;
  double epoch_seconds_ = 0, smooth_loss_ = 0;
  int64_t steps_seen_ = 0;  ///< of this epoch: less than its steps after resuming
  std::chrono::steady_clock::time_point last_drawn_{};
};

}  // namespace treadle::cli
