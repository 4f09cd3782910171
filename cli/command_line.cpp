#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "cli/standard_output.h"
#include "cli/usage.h"
#include "treadle/core/error.h"
#include "treadle/core/version.h"

namespace treadle::cli {
namespace {

CLI::Option* add(CLI::App& app, const ProgramOption& option, bool* target) {
  return app.add_flag(option.on_command_line(), *target, option.documentation);
}

/// A list takes one word each time that it is named; one at its place takes all words.
CLI::Option* add(CLI::App& app, const ProgramOption& option, std::vector<std::string>* target) {
  return app.add_option(option.on_command_line(), *target, option.documentation)
      ->allow_extra_args(option.is_word());
}

CLI::Option* add(CLI::App& app, const ProgramOption& option, std::vector<int64_t>* target) {
  return app.add_option(option.on_command_line(), *target, option.documentation)
      ->delimiter(',')
      ->allow_extra_args(false);
}

template <class Value>
CLI::Option* add(CLI::App& app, const ProgramOption& option, Value* target) {
  CLI::Option* added = app.add_option(option.on_command_line(), *target, option.documentation);
  return option.traits.default_shown ? added->capture_default_str() : added;
}

void add(CLI::App& app, const ProgramOption& option) {
  const OptionTraits& traits = option.traits;
  if (traits.behind_dashes) return;
  CLI::Option* added = std::visit([&](auto* target) { return add(app, option, target); }, option.target);
  added->required(traits.required);
  if (traits.check.fault) added->transform(CLI::Validator(traits.check.fault, traits.check.shown));
  for (const std::string& other : traits.excludes) added->excludes(app.get_option(other));
  for (const std::string& other : traits.needs) added->needs(app.get_option(other));
}

/// The names of the options that were given.
std::set<std::string> given_to(const CLI::App& app, const Command& command) {
  std::set<std::string> given;
  for (const ProgramOption& option : command.options)
    if (!option.traits.behind_dashes && app.count(option.on_command_line()))
      given.insert(option.on_command_line());
  return given;
}

/// Adds the command below `app` or below one of its commands.
void add(CLI::App& app, const Command& command, Choice& choice) {
  const size_t space = command.info.name.find(' ');
  CLI::App& parent =
      space == std::string::npos ? app : *app.get_subcommand(command.info.name.substr(0, space));
  CLI::App* added = parent.add_subcommand(command.info.name.substr(space + 1), command.info.description);
  for (const ProgramOption& option : command.options) add(*added, option);
  added->footer("Example: " + command.info.example);
  if (!command.run) return void(added->require_subcommand(1));
  added->callback([added, &command, &choice] {
    if (!added->get_subcommands().empty()) return;  // one of its own commands was chosen
    choice.action = [&command, given = given_to(*added, command)] {
      return command.run([&](const std::string& option) { return given.count(option) > 0; });
    };
  });
}

/// The option of the command that the words name, or null, which takes what stands behind `--`.
const ProgramOption* taking_the_rest(const Commands& commands, const std::vector<std::string>& words) {
  for (const Command& command : commands.all()) {
    std::string named;
    for (size_t i = 0; i < words.size() && named.size() < command.info.name.size(); ++i)
      named += (i == 0 ? "" : " ") + words[i];
    if (named != command.info.name) continue;
    for (const ProgramOption& option : command.options)
      if (option.traits.behind_dashes) return &option;
  }
  return nullptr;
}

/// The words before `--`; those behind it are given to the option that takes them.
std::vector<std::string> without_rest(const Commands& commands, std::vector<std::string> words) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  const ProgramOption* option = dashes == words.end() ? nullptr : taking_the_rest(commands, words);
  if (option == nullptr) return words;
  *std::get<std::vector<std::string>*>(option->target) = {dashes + 1, words.end()};
  words.erase(dashes, words.end());
  return words;
}

/// Compilers' `-std=c++20` for `--std=c++20`.
void write_as_ours(std::vector<std::string>& words) {
  for (std::string& word : words)
    if (word.starts_with("-std=")) word.insert(0, "-");
}

int say(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == int(CLI::ExitCodes::Success)) return app.exit(error, std::cout, std::cerr);
  print_error(usage_message(app, error));
  return kUsage;
}

}  // namespace

Choice choose(const Commands& commands, int count, char** words) {
  CLI::App app{"Neural networks from CUDA kernels up, on any machine", "treadle"};
  app.set_version_flag("--version", std::string("treadle ") + version());
  app.require_subcommand(1);
  app.footer("Example: treadle train fashion_cnn --epochs 5\n`treadle help COMMAND` tells more.");
  Choice choice;
  for (const Command& command : commands.all()) add(app, command, choice);
  try {
    auto arguments = without_rest(commands, arguments_of(app, count, words));
    write_as_ours(arguments);
    app.parse(std::vector(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return {{}, say(app, error)};
  } catch (const ValueError& error) {
    print_error(std::string("treadle: ") + error.what());
    return {{}, kUsage};
  }
  return choice;
}

}  // namespace treadle::cli
