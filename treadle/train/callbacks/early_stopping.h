/// EarlyStopping: ends a run when a figure has not become better for some epochs.
#pragma once  // public

#include "treadle/train/callback.h"

namespace treadle {

struct EarlyStoppingOptions {
  std::string figure = "validation_loss";  ///< as in metrics.jsonl
  bool higher_is_better = false;
  int64_t patience = 5;  ///< the run ends after so many epochs without a better figure
  double min_delta = 0;  ///< what is better by no more than this counts as no better
};

/// Prechelt, Early Stopping - But When?, 1998, with patience instead of a ratio. A run that is resumed counts
/// the epochs before.
class TREADLE_API EarlyStopping final : public Callback {
 public:
  /// Throws ValueError unless patience is positive, and min_delta finite and not negative.
  explicit EarlyStopping(EarlyStoppingOptions options);
  void begin_fit(const FitStart& start) override;
  /// Throws ValueError when there is no such figure.
  void end_epoch(const EpochReport& report) override { count(report.figures()); }
  bool wants_end() const override { return epochs_without_ >= options_.patience; }

 private:
  void count(const EpochFigures& figures);

  EarlyStoppingOptions options_;
  std::optional<double> best_;
  int64_t epochs_without_ = 0;
};

}  // namespace treadle
