/// Progress of a training run: a bar on a terminal, plain lines elsewhere. A terminal that is gone does not
/// end the run, which has a state to save.
#pragma once

#include <chrono>
#include <string>

#include "cli/learning_tasks.h"
#include "treadle/train/callback.h"

namespace treadle::cli {

class Progress final : public Callback {
 public:
  /// `quiet`: print nothing. `on_terminal`: redraw a bar on stderr after steps. Rates are in `unit`.
  Progress(bool quiet, bool on_terminal, DataUnit unit)
      : quiet_(quiet), bar_(on_terminal && !quiet), unit_(std::move(unit)) {}
  ~Progress() override;
  void end_step(const StepReport& report) override;
  void end_epoch(const EpochReport& report) override;
  void end_fit(const FitResult&) override { clear(); }

 private:
  /// Removes the bar.
  void clear();
  void draw(const StepReport& report);
  void print(const EpochReport& report);
  /// What fits into `width` columns: the bar and the rate go first.
  std::string line(const StepReport& report, int width) const;
  /// "10,098 images/s"
  std::string rate(int64_t examples, double seconds) const;

  bool quiet_, bar_, drawn_ = false;
  DataUnit unit_;
  double epoch_seconds_ = 0, smooth_loss_ = 0;
  int64_t steps_seen_ = 0;  ///< of this epoch: less than its steps after resuming
  std::chrono::steady_clock::time_point last_drawn_{};
};

}  // namespace treadle::cli
