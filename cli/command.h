/// Subcommands: each file of cli/ adds one to the program.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace treadle::cli {

/// Adds the subcommand's options to `app`; the returned function runs it and gives the exit code.
using Action = std::function<int()>;

Action add_train(CLI::App& app);
Action add_eval(CLI::App& app);
Action add_predict(CLI::App& app);
Action add_summary(CLI::App& app);
Action add_info(CLI::App& app);
Action add_ops(CLI::App& app);
Action add_datasets(CLI::App& app);
Action add_models(CLI::App& app);
Action add_bench(CLI::App& app);

/// Exit codes of the program.
enum ExitCode { kSuccess = 0, kFailed = 1, kUsage = 2, kAbsent = 3, kInterrupted = 130 };

}  // namespace treadle::cli
