#pragma once  // public

#include <algorithm>

#include "treadle/optim/schedule_kind.h"

namespace treadle {

/// peak·(1 − (step + 1)/(total + 1)): from just below the peak to just above 0; then 0.
struct LinearSchedule {
  static constexpr const char *kScheduleName = "linear", *kSummary = "to 0 over all steps";

  template <class Field>
  static void describe(Field&) {}
  void check() const {}
  double rate(double peak, const ScheduleMoment& at) const {
    return peak * (1 - std::min(double(at.step + 1) / double(at.total_steps + 1), 1.0));
  }
};

}  // namespace treadle
