/// What the program makes of its words before a command runs: `help`, unknown names, and what cannot be
/// parsed.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace treadle::cli {

/// The words behind the program's name, with `help COMMAND` turned into `COMMAND --help`. Throws ValueError
/// for a command that does not exist: it names the nearest.
std::vector<std::string> arguments_of(const CLI::App& app, int count, char** words);

/// One or two sentences about words that could not be parsed, and where to read on.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error);

}  // namespace treadle::cli
