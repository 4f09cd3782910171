#pragma once  // public

#include "treadle/optim/schedule_kind.h"

namespace treadle {

/// Cosines from the peak to `lowest`, the first over `restart_epochs`, each next one over `restart_factor`
/// times as many. Parts of an epoch count. Loshchilov and Hutter, SGDR, 2017.
struct CosineWarmRestartsSchedule {
  static constexpr const char *kScheduleName = "cosine-warm-restarts",
                              *kSummary = "cosines one after another";
  int64_t restart_epochs = 10, restart_factor = 1;
  double lowest_rate = 0;

  template <class Field>
  static void describe(Field& field) {
    using S = CosineWarmRestartsSchedule;
    field("restart_epochs", &S::restart_epochs, "epochs of the first cosine");
    field("restart_factor", &S::restart_factor, "how many times longer each next one is");
    field("lowest_rate", &S::lowest_rate, "learning rate at the bottom");
  }
  void check() const {
    schedules::require_count("restart_epochs", restart_epochs, 1);
    schedules::require_count("restart_factor", restart_factor, 1);
    schedules::require_rate(lowest_rate);
  }
  double rate(double peak, const ScheduleMoment& at) const {
    const double epochs = double(at.step) / double(at.steps_per_epoch);
    return lowest_rate + (peak - lowest_rate) * schedules::half_cosine(progress_at(epochs));
  }

 private:
  /// Within the cosine that an epoch falls in.
  double progress_at(double epochs) const {
    double length = double(restart_epochs);
    if (restart_factor == 1) return std::fmod(epochs, length) / length;
    for (; epochs >= length; length *= double(restart_factor)) epochs -= length;
    return epochs / length;
  }
};

}  // namespace treadle
