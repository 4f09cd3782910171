#include "cli/schedule_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "cli/option_checks.h"
#include "treadle/core/error.h"
#include "treadle/core/nearest_name.h"

namespace treadle::cli {
namespace {

const OptionField* find_field(const ScheduleKind& kind, const std::string& name) {
  const auto& fields = kind.options->fields;
  auto found = std::find_if(fields.begin(), fields.end(), [&](auto& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

std::vector<std::string> kinds_with(const std::string& name) {
  std::vector<std::string> kinds;
  for (const ScheduleKind& kind : known_schedule_kinds())
    if (find_field(kind, name)) kinds.push_back(kind.name);
  return kinds;
}

/// What every kind that has the option finds wrong with the value; empty where one takes it.
std::string fault_for_all(const std::string& name, const OptionValue& value) {
  std::string fault;
  for (const std::string& kind : kinds_with(name)) try {
      Schedule::named(kind, 1, {}, {{name, value}});
      return "";
    } catch (const ValueError& error) {
      fault = error.what();
    }
  return fault;
}

/// First as any value of the type, none of which may be negative, then by the kinds that have it.
OptionCheck check_of(const OptionField& field) {
  const bool is_double = std::holds_alternative<double>(field.default_value);
  return {[field, any = is_double ? number_from(0) : whole_number(0)](std::string& text) {
    OptionValue value = field.default_value;
    ProgramOption option{field.name, "", {}, {}, ""};
    option.target = target_in(value);
    std::string fault;
    if (!std::holds_alternative<std::vector<int64_t>>(value)) fault = any.fault(text);
    if (!fault.empty()) return fault;
    try {
      option.set(text);
    } catch (const ValueError& error) {
      return std::string(error.what());
    }
    return fault_for_all(field.name, value);
  }};
}

ScheduleOption option_of(const OptionField& field) {
  std::string text = field.documentation;
  text[0] = char(std::toupper(text[0]));
  const bool is_list = std::holds_alternative<std::vector<int64_t>>(field.default_value);
  return {field.name,
          fmt::format("{} ({})", text, joined_names(kinds_with(field.name))),
          {.check = check_of(field), .default_shown = !is_list, .kept = Kept::fixed, .kept_later = true}};
}

}  // namespace

ScheduleOptions default_schedule_options() {
  ScheduleOptions options;
  for (const ScheduleKind& kind : known_schedule_kinds())
    for (const OptionField& field : kind.options->fields) options.emplace(field.name, field.default_value);
  return options;
}

std::string schedule_summaries() {
  std::string text;
  for (const ScheduleKind& kind : known_schedule_kinds())
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", kind.name, kind.summary);
  return text;
}

const std::vector<ScheduleOption>& schedule_options() {
  static const std::vector<ScheduleOption> list = [] {
    std::map<std::string, ScheduleOption> by_name;
    for (const ScheduleKind& kind : known_schedule_kinds())
      for (const OptionField& field : kind.options->fields) by_name.emplace(field.name, option_of(field));
    std::vector<ScheduleOption> all;
    for (auto& [name, option] : by_name) all.push_back(option);
    return all;
  }();
  return list;
}

Schedule schedule_with(const std::string& name, double rate, const ScheduleSpan& span,
                       const ScheduleOptions& options) {
  ScheduleOptions chosen;
  for (const ScheduleKind& kind : known_schedule_kinds())
    for (const OptionField& field : kind.options->fields)
      if (kind.name == name) chosen[field.name] = options.at(field.name);
  return Schedule::named(name, rate, span, chosen);
}

}  // namespace treadle::cli
