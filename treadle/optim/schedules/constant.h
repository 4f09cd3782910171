#pragma once  // public

#include "treadle/optim/schedule_kind.h"

namespace treadle {

/// The same rate throughout.
struct ConstantSchedule {
  static constexpr const char *kScheduleName = "constant", *kSummary = "the same throughout";

  template <class Field>
  static void describe(Field&) {}
  void check() const {}
  double rate(double peak, const ScheduleMoment&) const { return peak; }
};

}  // namespace treadle
