#pragma once  // public

#include <algorithm>

#include "treadle/optim/schedule_kind.h"

namespace treadle {

/// From peak / initial_divisor by half a cosine to the peak, which is reached where the share `warm_up` of
/// the steps ends, and by another one to peak / initial_divisor / final_divisor at the last step. Smith and
/// Topin, Super-Convergence, 2018, as PyTorch has it.
struct OneCycleCosineSchedule {
  static constexpr const char *kScheduleName = "one-cycle-cosine",
                              *kSummary = "half a cosine up, another one down";
  double warm_up = 0.2, initial_divisor = 25, final_divisor = 1e4;

  template <class Field>
  static void describe(Field& field) {
    using S = OneCycleCosineSchedule;
    field("warm_up", &S::warm_up, "share of the steps in which the learning rate rises");
    field("initial_divisor", &S::initial_divisor, "of the learning rate at the first step");
    field("final_divisor", &S::final_divisor, "of the first step's learning rate at the last one");
  }
  void check() const {
    schedules::require_share_of_steps(warm_up);
    for (double divisor : {initial_divisor, final_divisor})
      require<ValueError>(divisor > 0 && std::isfinite(divisor),
                          "a schedule's divisor is {}; it must be finite and above 0", divisor);
  }
  double rate(double peak, const ScheduleMoment& at) const {
    const double first = peak / initial_divisor, last = first / final_divisor;
    const double step = double(at.step), end = double(at.total_steps - 1);
    const double top = std::max(warm_up * double(at.total_steps) - 1, 0.0);
    if (step < top) return between(peak, first, step / top);
    return between(last, peak, end > top ? std::min((step - top) / (end - top), 1.0) : 1.0);
  }

 private:
  /// Half a cosine from `from` to `to`.
  static double between(double to, double from, double progress) {
    return to + (from - to) * schedules::half_cosine(progress);
  }
};

}  // namespace treadle
