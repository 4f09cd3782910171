/// The kinds of schedules against PyTorch's schedulers, as schedules/NAME.json holds them.
#include "tests/goldens/golden_files.h"
#include "treadle/optim/schedule.h"

namespace treadle::goldens {
namespace {

ScheduleSpan span_of(const Json& record) {
  return {.total_steps = record.value("total_steps", 0),
          .steps_per_epoch = record.value("steps_per_epoch", 1),
          .warm_up_steps = record.value("warm_up_steps", 0)};
}

Schedule schedule_of(const std::string& kind, const Json& record) {
  std::map<std::string, OptionValue> options;
  for (auto& [name, value] : record["options"].items()) options[name] = option_value(value);
  return Schedule::named(kind, record["rate"], span_of(record["span"]), options);
}

/// Two roundings of PyTorch's at each step, which go from step to step.
void expect_rates(const std::string& kind, const Json& record) {
  Schedule schedule = schedule_of(kind, record);
  const auto figures =
      signed_tensor(record.value("figures", 0u), {int64_t(record["rates"].size())}).to_doubles();
  const bool higher_is_better = record["pytorch"][1].value("mode", "min") == "max";
  const int64_t every = span_of(record["span"]).steps_per_epoch;
  for (int64_t step = 0; step < int64_t(record["rates"].size()); ++step) {
    EXPECT_NEAR(schedule.at(step), record["rates"][size_t(step)].get<double>(),
                2 * double(step + 1) * 0x1p-53 * record["rate"].get<double>())
        << kind << ' ' << record["pytorch"] << " step " << step;
    if ((step + 1) % every == 0)
      schedule.observe(2 + figures[size_t((step + 1) / every - 1)], higher_is_better);
  }
}

TEST(Schedules, EqualPyTorch) {
  for (const std::string& name : names_in("schedules")) {
    const Json& file = contents("schedules/" + name);
    for (const Json& record : file["cases"]) expect_rates(file["kind"], record);
  }
}

TEST(Schedules, AllKindsHaveGoldensThatChangeEveryOption) {
  std::map<std::string, std::map<std::string, bool>> changed;
  for (const std::string& name : names_in("schedules"))
    for (const Json& record : contents("schedules/" + name)["cases"])
      for (auto& [option, value] : record["options"].items())
        changed[contents("schedules/" + name)["kind"]][option] = true;
  for (const ScheduleKind& kind : known_schedule_kinds())
    for (const OptionField& field : kind.options->fields)
      EXPECT_TRUE(changed[kind.name][field.name]) << kind.name << ": no golden has another " << field.name;
}

}  // namespace
}  // namespace treadle::goldens
