#include "cli/given_settings.h"

#include <algorithm>
#include <set>

#include "cli/train_config.h"
#include "treadle/core/error.h"

namespace treadle::cli {
namespace {

/// A value and where it comes from, for messages.
struct Given {
  std::string text, source;
};

/// That a run keeps.
std::vector<ProgramOption> settings_of(TrainOptions& options) {
  auto list = described(options);
  std::erase_if(list, [](const ProgramOption& option) { return option.traits.kept == Kept::no; });
  return list;
}

/// By its name in config.toml or on the command line.
const ProgramOption& find(const std::vector<ProgramOption>& settings, const std::string& name,
                          const std::string& source) {
  std::vector<std::string> known;
  for (const ProgramOption& option : settings) {
    if (option.name == name || option.on_command_line() == "--" + name) return option;
    known.push_back(option.name);
  }
  throw ValueError(fmt::format("{}: no setting is called '{}'{}", source, name, suggestion(name, known)));
}

std::map<std::string, Given> all_given(const TrainOptions& options,
                                       const std::vector<ProgramOption>& settings) {
  std::map<std::string, Given> given;
  if (!options.config.empty())
    for (const auto& [name, text] : read_config(options.config))
      given[find(settings, name, options.config).name] = {text, options.config};
  for (const std::string& word : options.set) {
    const size_t sign = word.find('=');
    require<ValueError>(sign != word.npos, "--set '{}' is not NAME=VALUE", word);
    given[find(settings, word.substr(0, sign), "--set").name] = {word.substr(sign + 1), "--set"};
  }
  return given;
}

void set(const ProgramOption& option, const Given& given) {
  try {
    option.set(given.text);
  } catch (const ValueError& error) {
    throw ValueError(fmt::format("{}: {}: {}", given.source, option.name, error.what()));
  }
}

}  // namespace

IsGiven apply_given_settings(const IsGiven& is_given, TrainOptions& options) {
  const std::vector<ProgramOption> settings = settings_of(options);
  const std::map<std::string, Given> given = all_given(options, settings);
  std::set<std::string> names;
  for (const ProgramOption& option : settings) {
    auto found = given.find(option.name);
    if (found == given.end() || is_given(option.on_command_line())) continue;
    set(option, found->second);
    names.insert(option.on_command_line());
  }
  return [is_given, names](const std::string& option) { return is_given(option) || names.count(option) > 0; };
}

}  // namespace treadle::cli
