#pragma once  // public

#include <algorithm>

#include "treadle/optim/schedule_kind.h"

namespace treadle {

/// With t = (step + 1)/(total + 1): peak·t/w while t < w, then peak·(1 − t)/(1 − w); w is `warm_up`. Every
/// step of the run has a rate above 0, those after it have 0. After Smith and Topin, Super-Convergence, 2018,
/// with one descent.
struct OneCycleSchedule {
  static constexpr const char *kScheduleName = "one-cycle",
                              *kSummary = "a linear rise, then a linear fall to 0";
  double warm_up = 0.2;

  template <class Field>
  static void describe(Field& field) {
    field("warm_up", &OneCycleSchedule::warm_up, "share of the steps in which the learning rate rises");
  }
  void check() const { schedules::require_share_of_steps(warm_up); }
  double rate(double peak, const ScheduleMoment& at) const {
    const double t = std::min(double(at.step + 1) / double(at.total_steps + 1), 1.0);
    return peak * (t < warm_up ? t / warm_up : (1 - t) / (1 - warm_up));
  }
};

}  // namespace treadle
