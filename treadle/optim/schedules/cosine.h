#pragma once  // public

#include <algorithm>

#include "treadle/optim/schedule_kind.h"

namespace treadle {

/// lowest + (peak − lowest)·(1 + cos(π·step / total)) / 2, and `lowest` after the last step. Loshchilov and
/// Hutter, SGDR, 2017.
struct CosineSchedule {
  static constexpr const char *kScheduleName = "cosine", *kSummary = "half a cosine over all steps";
  double lowest_rate = 0;

  template <class Field>
  static void describe(Field& field) {
    field("lowest_rate", &CosineSchedule::lowest_rate, "learning rate at the bottom");
  }
  void check() const { schedules::require_rate(lowest_rate); }
  double rate(double peak, const ScheduleMoment& at) const {
    const double progress = double(at.step) / double(std::max<int64_t>(at.total_steps, 1));
    return lowest_rate + (peak - lowest_rate) * schedules::half_cosine(std::min(progress, 1.0));
  }
};

}  // namespace treadle
