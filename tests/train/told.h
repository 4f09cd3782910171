/// Callbacks of tests: functions that are told of steps or epochs.
#pragma once

#include <functional>

#include "treadle/train/callback.h"

namespace treadle {

/// Whichever of the two are there are called.
struct Told : Callback {
  std::function<void(const StepReport&)> on_step;
  std::function<void(const EpochReport&)> on_epoch;

  void end_step(const StepReport& report) override {
    if (on_step) on_step(report);
  }
  void end_epoch(const EpochReport& report) override {
    if (on_epoch) on_epoch(report);
  }
};

}  // namespace treadle
