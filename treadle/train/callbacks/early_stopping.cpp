#include "treadle/train/callbacks/early_stopping.h"

#include <cmath>

#include "treadle/core/error.h"

namespace treadle {

EarlyStopping::EarlyStopping(EarlyStoppingOptions options) : options_(std::move(options)) {
  require<ValueError>(options_.patience > 0, "EarlyStopping: patience is {}, it must be positive",
                      options_.patience);
  require<ValueError>(std::isfinite(options_.min_delta) && options_.min_delta >= 0,
                      "EarlyStopping: min_delta is {}, it must be a number of 0 or more", options_.min_delta);
}

void EarlyStopping::begin_fit(const FitStart& start) {
  best_.reset();
  epochs_without_ = 0;
  for (const EpochFigures& epoch : start.earlier) count(epoch);
}

void EarlyStopping::count(const EpochFigures& figures) {
  auto found = figures.values.find(options_.figure);
  require<ValueError>(found != figures.values.end(), "EarlyStopping: epoch {} has no figure {}",
                      figures.epoch, options_.figure);
  const double gain = best_ ? (found->second - *best_) * (options_.higher_is_better ? 1 : -1) : INFINITY;
  const bool better = gain > options_.min_delta;
  if (better) best_ = found->second;
  epochs_without_ = better ? 0 : epochs_without_ + 1;
}

}  // namespace treadle
