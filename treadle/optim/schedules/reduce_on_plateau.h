#pragma once  // public

#include <algorithm>

#include "treadle/optim/schedule_kind.h"

namespace treadle {

/// The rate is multiplied by gamma once a figure of the validation part has not become better by the share
/// `threshold` for more than `patience` epochs, and then not for `cooldown` epochs; never below
/// `lowest_rate`.
struct ReduceOnPlateauSchedule {
  static constexpr const char *kScheduleName = "reduce-on-plateau",
                              *kSummary = "times gamma when the validation part gets no better";
  static constexpr double kLeastChange = 1e-8;  ///< smaller ones are not made
  static constexpr size_t kKept = 4;
  double gamma = 0.1, threshold = 1e-4, lowest_rate = 0;
  int64_t patience = 10, cooldown = 0;

  template <class Field>
  static void describe(Field& field) {
    using S = ReduceOnPlateauSchedule;
    field("gamma", &S::gamma, "share of the learning rate that each drop leaves");
    field("patience", &S::patience, "epochs without improvement before the learning rate drops");
    field("threshold", &S::threshold, "share by which a figure must be better to count as improvement");
    field("cooldown", &S::cooldown, "epochs after a drop that are not counted");
    field("lowest_rate", &S::lowest_rate, "learning rate at the bottom");
  }
  void check() const {
    schedules::require_gamma(gamma);
    require<ValueError>(gamma < 1, "a schedule's gamma is {}; on a plateau it must be below 1", gamma);
    require<ValueError>(threshold >= 0 && threshold < 1,
                        "a schedule's threshold is {}, which is not within [0, 1)", threshold);
    schedules::require_count("patience", patience, 0);
    schedules::require_count("cooldown", cooldown, 0);
    schedules::require_rate(lowest_rate);
  }
  double rate(double peak, const ScheduleMoment& at) const { return at.kept.empty() ? peak : at.kept[kRate]; }

  void observe(double peak, double figure, bool higher_is_better, std::vector<double>& kept) const {
    const bool first = kept.empty();
    if (first) kept = {peak, figure, 0, 0};
    if (first || is_better(figure, kept[kBest], higher_is_better))
      kept[kBest] = figure, kept[kBadEpochs] = 0;
    else
      kept[kBadEpochs] += 1;
    if (kept[kCooldown] > 0) kept[kCooldown] -= 1, kept[kBadEpochs] = 0;
    if (kept[kBadEpochs] > double(patience)) drop(kept);
  }

 private:
  /// Places in what is kept.
  enum : size_t { kRate, kBest, kBadEpochs, kCooldown };

  bool is_better(double figure, double best, bool higher_is_better) const {
    return higher_is_better ? figure > best * (1 + threshold) : figure < best * (1 - threshold);
  }
  void drop(std::vector<double>& kept) const {
    const double lower = std::max(kept[kRate] * gamma, lowest_rate);
    if (kept[kRate] - lower > kLeastChange) kept[kRate] = lower;
    kept[kCooldown] = double(cooldown), kept[kBadEpochs] = 0;
  }
};

}  // namespace treadle
