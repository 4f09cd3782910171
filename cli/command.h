/// Subcommands: each file of cli/ that has no header is one, and registers it; the build finds it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/option.h"

namespace treadle::cli {

/// Exit codes of the program.
enum ExitCode { kSuccess = 0, kFailed = 1, kUsage = 2, kAbsent = 3, kReports = 4, kInterrupted = 130 };

/// Whether the user gave an option, by its name on the command line.
using IsGiven = std::function<bool(const std::string& option)>;

/// What --help says of a command.
struct CommandInfo {
  int place = 0;     ///< in lists, smallest first
  std::string name;  ///< "bench op" is the command `op` of `bench`
  std::string description;
  std::string example;
};

struct Command {
  CommandInfo info;
  std::vector<ProgramOption> options = {};
  /// Once the options are set: does it all and returns the exit code. Absent: it only has commands of its
  /// own.
  std::function<int(const IsGiven& is_given)> run = {};
};

class Commands {
 public:
  /// A command that is only there for its own commands.
  void add(CommandInfo info);
  /// `Options` describes its fields, as described() reads them.
  template <class Options>
  void add(CommandInfo info, int (*run)(const Options& options)) {
    auto options = std::make_shared<Options>();
    insert({std::move(info), described(*options), [options, run](const IsGiven&) { return run(*options); }});
  }
  /// The same for a command that must know what was given.
  template <class Options>
  void add(CommandInfo info, int (*run)(const Options& options, const IsGiven& is_given)) {
    auto options = std::make_shared<Options>();
    insert({std::move(info), described(*options),
            [options, run](const IsGiven& is_given) { return run(*options, is_given); }});
  }

  /// At their places; whose name has fewer words first.
  const std::vector<Command>& all() const { return commands_; }

 private:
  void insert(Command command);

  std::vector<Command> commands_;
};

/// All commands of the program.
Commands all_commands();

}  // namespace treadle::cli
