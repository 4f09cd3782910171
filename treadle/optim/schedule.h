/// Learning-rate schedules: a rate for each step of a run, by one of the kinds in schedules/.
#pragma once  // public

#include <cstdint>
#include <map>
#include <string>
#include <typeinfo>
#include <vector>

#include "treadle/graph/options.h"
#include "treadle/optim/schedule_kind.h"

namespace treadle {

/// The steps that a schedule lies over.
struct ScheduleSpan {
  int64_t total_steps = 0;      ///< of the run; not every kind asks
  int64_t steps_per_epoch = 1;  ///< for kinds that count epochs
  /// Before the schedule begins: step t of N has the share (t + 1)/(N + 1) of the rate.
  int64_t warm_up_steps = 0;
};

/// A learning rate for each step of a run. Whoever makes one throws ValueError for a rate that is negative or
/// not finite, for a span that is none, and for options that the kind refuses.
class TREADLE_API Schedule {
 public:
  /// `Schedule(CosineSchedule(), 0.1, {.total_steps = 1000})`. The kinds are structs, one in each header of
  /// schedules/.
  template <class Kind>
  Schedule(const Kind& kind, double rate, const ScheduleSpan& span = {})
      : Schedule(kind_of(typeid(Kind)), Attributes::of(kind), rate, span) {}
  /// One of known_schedules(), with the options that differ from their defaults. Throws ValueError listing
  /// the known ones.
  static Schedule named(const std::string& name, double rate, const ScheduleSpan& span = {},
                        const std::map<std::string, OptionValue>& options = {});

  /// Throws ValueError for a negative step.
  double at(int64_t step) const;

  /// Whether the rates depend on what observe() is told.
  bool follows_figure() const { return kind_->observe != nullptr; }
  /// A figure of the validation part, once after each epoch. Kinds that follow none ignore it. Throws
  /// ValueError where it is not finite.
  void observe(double figure, bool higher_is_better);
  /// What observe() has left; empty at first. A run that goes on later sets it again.
  const std::vector<double>& kept() const { return kept_; }
  /// Throws ValueError for what observe() of the kind cannot have left.
  void set_kept(std::vector<double> kept);

 private:
  Schedule(const ScheduleKind& kind, Attributes options, double rate, const ScheduleSpan& span);
  static const ScheduleKind& kind_of(const std::type_info& type);

  const ScheduleKind* kind_;
  Attributes options_;
  double rate_;
  ScheduleSpan span_;
  std::vector<double> kept_;
};

/// In the order of their names.
TREADLE_API const std::vector<ScheduleKind>& known_schedule_kinds();
TREADLE_API std::vector<std::string> known_schedules();

}  // namespace treadle
