#pragma once  // public

#include <algorithm>

#include "treadle/optim/schedule_kind.h"

namespace treadle {

/// peak·gamma^k, where k of the milestones have been reached. One that is listed twice counts twice.
struct MultiStepSchedule {
  static constexpr const char *kScheduleName = "multi-step", *kSummary = "times gamma at each milestone";
  std::vector<int64_t> milestones;
  double gamma = 0.1;

  template <class Field>
  static void describe(Field& field) {
    field("milestones", &MultiStepSchedule::milestones, "epochs after which the learning rate drops");
    field("gamma", &MultiStepSchedule::gamma, "share of the learning rate that each drop leaves");
  }
  void check() const {
    for (int64_t epoch : milestones) schedules::require_count("milestone", epoch, 0);
    schedules::require_gamma(gamma);
  }
  double rate(double peak, const ScheduleMoment& at) const {
    return peak * std::pow(gamma, std::count_if(milestones.begin(), milestones.end(),
                                                [&](int64_t epoch) { return epoch <= at.epoch(); }));
  }
};

}  // namespace treadle
