#pragma once  // public

#include "treadle/optim/schedule_kind.h"

namespace treadle {

/// peak·gamma^epoch.
struct ExponentialSchedule {
  static constexpr const char *kScheduleName = "exponential", *kSummary = "times gamma after each epoch";
  double gamma = 0.1;

  template <class Field>
  static void describe(Field& field) {
    field("gamma", &ExponentialSchedule::gamma, "share of the learning rate that each drop leaves");
  }
  void check() const { schedules::require_gamma(gamma); }
  double rate(double peak, const ScheduleMoment& at) const { return peak * std::pow(gamma, at.epoch()); }
};

}  // namespace treadle
