#pragma once  // public

#include "treadle/optim/schedule_kind.h"

namespace treadle {

/// peak·gamma^⌊epoch / step_size⌋.
struct StepSchedule {
  static constexpr const char *kScheduleName = "step", *kSummary = "times gamma every step_size epochs";
  int64_t step_size = 10;
  double gamma = 0.1;

  template <class Field>
  static void describe(Field& field) {
    field("step_size", &StepSchedule::step_size, "epochs between two drops of the learning rate");
    field("gamma", &StepSchedule::gamma, "share of the learning rate that each drop leaves");
  }
  void check() const {
    schedules::require_count("step_size", step_size, 1);
    schedules::require_gamma(gamma);
  }
  double rate(double peak, const ScheduleMoment& at) const {
    return peak * std::pow(gamma, at.epoch() / step_size);
  }
};

}  // namespace treadle
