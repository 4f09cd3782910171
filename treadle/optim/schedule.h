/// Learning-rate schedules as functions of the step.
#pragma once  // public

#include <cstdint>
#include <string>
#include <vector>

#include "treadle/core/export.h"

namespace treadle {

/// A learning rate for each step of a run. Whoever makes one throws ValueError for a rate that is negative or
/// not finite, and for a negative number of steps.
class TREADLE_API Schedule {
 public:
  /// What one-cycle gives to its rise, as a share of all steps.
  static constexpr double kWarmUp = 0.2;

  /// The same rate throughout.
  static Schedule constant(double rate) { return Schedule(Kind::constant, rate, 1, 0); }
  /// rate·(1 + cos(π·step / total)) / 2: from `rate` to 0. Loshchilov and Hutter, SGDR, 2017.
  static Schedule cosine(double rate, int64_t total_steps) {
    return Schedule(Kind::cosine, rate, total_steps, 0);
  }
  /// rate·(1 − (step + 1)/(total + 1)): from just below `rate` to just above 0.
  static Schedule linear(double rate, int64_t total_steps) { return one_cycle(rate, total_steps, 0); }
  /// With t = (step + 1)/(total + 1): rate·t/w while t < w, then rate·(1 − t)/(1 − w); w is `warm_up`. Every
  /// step of the run has a rate above 0. After Smith and Topin, Super-Convergence, 2018, with one descent.
  /// Throws ValueError unless 0 <= warm_up < 1.
  static Schedule one_cycle(double rate, int64_t total_steps, double warm_up = kWarmUp);
  /// One of known_schedules(); `warm_up` is for one-cycle. Throws ValueError listing them.
  static Schedule named(const std::string& name, double rate, int64_t total_steps, double warm_up = kWarmUp);

  /// After the last step cosine, linear and one-cycle stay at 0. Throws ValueError for a negative step.
  double at(int64_t step) const;

 private:
  enum class Kind { constant, cosine, one_cycle };
  Schedule(Kind kind, double rate, int64_t total_steps, double warm_up);

  Kind kind_;
  double rate_;
  int64_t total_steps_;
  double warm_up_;
};

/// `constant`, `cosine`, `linear` and `one-cycle`.
TREADLE_API std::vector<std::string> known_schedules();

}  // namespace treadle
