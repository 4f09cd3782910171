#include "cli/usage.h"

#include <fmt/core.h>

#include <algorithm>

#include "treadle/core/error.h"
#include "treadle/core/nearest_name.h"

namespace treadle::cli {
namespace {

using Words = std::vector<std::string>;

Words names_of(const std::vector<const CLI::App*>& commands) {
  Words names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

const CLI::App* find(const std::vector<const CLI::App*>& commands, const std::string& name) {
  auto found = std::find_if(commands.begin(), commands.end(),
                            [&](const CLI::App* command) { return command->get_name() == name; });
  return found == commands.end() ? nullptr : *found;
}

/// "treadle bench op"
std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return (parent ? full_name(*parent) + " " : "") + app.get_name();
}

/// Follows the words that name commands, down to the first that does not.
const CLI::App& command_at(const CLI::App& app, const Words& words, size_t first) {
  auto commands = app.get_subcommands({});
  if (commands.empty() || first >= words.size() || words[first].starts_with('-')) return app;
  const CLI::App* next = find(commands, words[first]);
  if (!next) throw ValueError(unknown_name("there is no command", words[first], names_of(commands)));
  return command_at(*next, words, first + 1);
}

Words option_names(const CLI::App& app) {
  Words names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

const CLI::App& command_used(const CLI::App& app) {
  auto used = app.get_subcommands();
  return used.empty() ? app : command_used(*used[0]);
}

/// About words that nothing takes: an option that does not exist rather than the value behind it.
std::string about_extras(const CLI::App& app, const Words& extras) {
  auto option = std::find_if(extras.begin(), extras.end(),
                             [](const std::string& word) { return word.size() > 1 && word[0] == '-'; });
  if (option == extras.end()) return fmt::format("nothing takes the word '{}'", extras.at(0));
  std::string name = option->substr(0, option->find('='));
  return fmt::format("there is no option '{}'{}", name, suggestion(name, option_names(app)));
}

/// CLI11 says "--epochs: 1 required INT missing" and "--epochs: At Most 1 required but received 2".
std::string about_mismatch(const std::string& text) {
  std::string option = text.substr(0, text.find(':'));
  if (text.ends_with(" missing")) return option + " needs a value";
  if (text.find("At Most 1 ") != std::string::npos) return option + " is given more than once";
  return text;
}

/// CLI11 says "Could not convert: --normalize = maybe".
std::string about_conversion(std::string text) {
  const std::string begin = "Could not convert: ", equals = " = ";
  size_t middle = text.find(equals);
  if (!text.starts_with(begin) || middle == std::string::npos) return text;
  return fmt::format("{} does not take '{}'", text.substr(begin.size(), middle - begin.size()),
                     text.substr(middle + equals.size()));
}

std::string about(const CLI::App& root, const CLI::App& used, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error)) {
    Words extras = root.remaining(true);
    if (!extras.empty()) return about_extras(used, extras);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) return about_mismatch(error.what());
  if (dynamic_cast<const CLI::ConversionError*>(&error)) return about_conversion(error.what());
  auto commands = used.get_subcommands({});
  if (dynamic_cast<const CLI::RequiredError*>(&error) && !commands.empty()) {
    Words extras = root.remaining(true);
    if (!extras.empty()) return about_extras(used, extras);
    return "a command is missing; known are " + joined_names(names_of(commands));
  }
  return error.what();
}

}  // namespace

Words arguments_of(const CLI::App& app, int count, char** words) {
  Words arguments(words + 1, words + count);
  auto help = std::find(arguments.begin(), arguments.end(), "help");
  const bool behind_commands =
      help != arguments.end() &&
      std::none_of(arguments.begin(), help, [](const std::string& word) { return word.starts_with('-'); });
  if (behind_commands && !command_at(app, {arguments.begin(), help}, 0).get_subcommands({}).empty()) {
    arguments.erase(help);
    arguments.resize(size_t(std::find_if(arguments.begin(), arguments.end(),
                                         [](const std::string& word) { return word.starts_with('-'); }) -
                            arguments.begin()));
    arguments.push_back("--help");
  }
  command_at(app, arguments, 0);
  return arguments;
}

std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& used = command_used(app);
  std::string name = full_name(used), text = about(app, used, error);
  return fmt::format("{}: {}{} `{} --help` tells more", name, text, text.ends_with('?') ? "" : ";", name);
}

}  // namespace treadle::cli
