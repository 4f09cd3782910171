#include "cli/saved_settings.h"

#include <algorithm>

#include "treadle/core/error.h"

namespace treadle::cli {
namespace {

std::vector<ProgramOption> kept(TrainOptions& options) {
  auto list = described(options);
  std::erase_if(list, [](const ProgramOption& option) { return option.traits.kept == Kept::no; });
  return list;
}

using Settings = std::map<std::string, std::string>;

/// What the run had, under this version's name of the option or an earlier one.
const std::string* saved_text(const Settings& saved, const ProgramOption& option) {
  auto found = saved.find(option.on_command_line());
  if (found == saved.end()) found = saved.find(option.traits.kept_as_earlier);
  return found == saved.end() ? nullptr : &found->second;
}

/// Sets the option to what the run had.
void take(const Settings& saved, const ProgramOption& option, const std::string& file) {
  const std::string* text = saved_text(saved, option);
  require<FormatError>(text || option.traits.kept_later, "{} lacks the setting {}; it cannot be resumed",
                       file, option.on_command_line());
  try {
    option.set(text ? *text : option.default_text);
  } catch (const ValueError& error) {
    throw FormatError(fmt::format("{}: the setting {}: {}", file, option.on_command_line(), error.what()));
  }
}

}  // namespace

Settings remembered(const TrainOptions& options) {
  Settings settings;
  TrainOptions copy = options;
  for (const ProgramOption& option : kept(copy)) settings[option.on_command_line()] = option.text();
  return settings;
}

void continue_with(const IsGiven& is_given, const Checkpoint& from, TrainOptions& o) {
  const std::string file = o.out + "/last.safetensors";
  require<ValueError>(from.model == o.model, "{} holds the model {}, not {}", file, from.model, o.model);
  for (const ProgramOption& option : kept(o)) {
    const std::string name = option.on_command_line(), given = option.text();
    take(from.training, option, file);
    if (!is_given(name) || option.text() == given) continue;
    require<ValueError>(option.traits.kept == Kept::renewable,
                        "{} {} differs from the run to resume, which has {}", name, given,
                        option.text().empty() ? "none" : option.text());
    option.set(given);
  }
}

}  // namespace treadle::cli
