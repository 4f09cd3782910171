#include "treadle/optim/schedule.h"

#include <algorithm>

#include "treadle/core/nearest_name.h"

namespace treadle {

namespace schedules {
std::vector<ScheduleKind> all();  // generated from the headers of schedules/
}

const std::vector<ScheduleKind>& known_schedule_kinds() {
  static const std::vector<ScheduleKind> kinds = [] {
    auto all = schedules::all();
    std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.name < b.name; });
    return all;
  }();
  return kinds;
}

std::vector<std::string> known_schedules() {
  std::vector<std::string> names;
  for (const ScheduleKind& kind : known_schedule_kinds()) names.push_back(kind.name);
  return names;
}

const ScheduleKind& Schedule::kind_of(const std::type_info& type) {
  for (const ScheduleKind& kind : known_schedule_kinds())
    if (*kind.type == type) return kind;
  throw ValueError(fmt::format("no kind of schedule has the options {}", type.name()));
}

Schedule Schedule::named(const std::string& name, double rate, const ScheduleSpan& span,
                         const std::map<std::string, OptionValue>& options) {
  for (const ScheduleKind& kind : known_schedule_kinds())
    if (kind.name == name) return Schedule(kind, kind.options->make(options), rate, span);
  throw ValueError(unknown_name("no schedule is called", name, known_schedules()));
}

Schedule::Schedule(const ScheduleKind& kind, Attributes options, double rate, const ScheduleSpan& span)
    : kind_(&kind), options_(std::move(options)), rate_(rate), span_(span) {
  schedules::require_rate(rate);
  require<ValueError>(span.total_steps >= 0, "a schedule cannot last {} steps", span.total_steps);
  require<ValueError>(span.steps_per_epoch > 0, "an epoch cannot have {} steps", span.steps_per_epoch);
  require<ValueError>(span.warm_up_steps >= 0, "a warm-up cannot last {} steps", span.warm_up_steps);
  kind.check(options_);
}

double Schedule::at(int64_t step) const {
  require<ValueError>(step >= 0, "steps of a schedule count from 0, not {}", step);
  const int64_t warm_up = span_.warm_up_steps;
  if (step < warm_up) return rate_ * (double(step + 1) / double(warm_up + 1));
  return kind_->rate(
      options_, rate_,
      {step - warm_up, std::max<int64_t>(span_.total_steps - warm_up, 0), span_.steps_per_epoch, kept_});
}

void Schedule::observe(double figure, bool higher_is_better) {
  require<ValueError>(std::isfinite(figure), "a schedule cannot follow a figure that is {}", figure);
  if (follows_figure()) kind_->observe(options_, rate_, figure, higher_is_better, kept_);
}

void Schedule::set_kept(std::vector<double> kept) {
  require<ValueError>(kept.empty() || kept.size() == kind_->kept, "the schedule {} keeps {} numbers, not {}",
                      kind_->name, kind_->kept, kept.size());
  kept_ = std::move(kept);
}

}  // namespace treadle
