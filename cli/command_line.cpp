#include "cli/command_line.h"

#include <CLI/CLI.hpp>
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
    if (app.count(option.on_command_line())) given.insert(option.on_command_line());
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
    auto arguments = arguments_of(app, count, words);
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
