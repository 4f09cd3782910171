/// The options of all kinds of schedules, as options of the program.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/option.h"
#include "treadle/optim/schedule.h"

namespace treadle::cli {

/// Options of schedules by name. One that several kinds have is one option.
using ScheduleOptions = std::map<std::string, OptionValue>;

ScheduleOptions default_schedule_options();

/// "constant: the same throughout; cosine: half a cosine over all steps; …"
std::string schedule_summaries();

struct ScheduleOption {
  std::string name, documentation;
  OptionTraits traits;
};

const std::vector<ScheduleOption>& schedule_options();

/// Describes each as a field of `Options`, whose member holds them.
template <class Options>
void describe_schedule_options(auto& field, ScheduleOptions Options::*member) {
  for (const ScheduleOption& option : schedule_options())
    field(
        option.name.c_str(),
        [member, name = option.name](Options& options) -> OptionValue& { return (options.*member).at(name); },
        option.documentation, option.traits);
}

/// A schedule with those of the options that its kind has. Throws as Schedule::named().
Schedule schedule_with(const std::string& name, double rate, const ScheduleSpan& span,
                       const ScheduleOptions& options);

}  // namespace treadle::cli
