/// The treadle program: picks the subcommand, and turns exceptions into one sentence and an exit code.
#include <fmt/core.h>
#include <signal.h>

#include <cerrno>
#include <cstring>

#include "cli/command.h"
#include "treadle/core/error.h"
#include "treadle/core/version.h"
#include "treadle/data/dataset.h"

namespace treadle::cli {
namespace {

struct Subcommand {
  const char *name, *description;
  Action (*add)(CLI::App&);
};

constexpr Subcommand kSubcommands[] = {
    {"train", "Train a model and save checkpoints", add_train},
    {"eval", "Test accuracy of a checkpoint, in all and by class", add_eval},
    {"predict", "Classify image files with a checkpoint", add_predict},
    {"summary", "Layers of a model with shapes, parameters and multiply-adds", add_summary},
    {"info", "Devices and engines: which are there, and why others are not", add_info},
    {"ops", "Ops with their variants, devices and dtypes", add_ops},
    {"datasets", "Known data sets: where they were found or how to get them", add_datasets},
    {"models", "Known models", add_models},
    {"bench", "Time ops and whole steps", add_bench},
};

int fail(int code, const std::exception& error) {
  fmt::print(stderr, "treadle: {}\n", error.what());
  return code;
}

/// The action's exit code, unless its output could not be written.
int run_and_flush(const Action& action) {
  int code = action();
  require<FileError>(std::fflush(stdout) == 0, "the output could not be written: {}", std::strerror(errno));
  return code;
}

int guarded(const Action& action) {
  try {
    return run_and_flush(action);
  } catch (const DatasetAbsent& error) {
    return fail(kAbsent, error);
  } catch (const DeviceAbsent& error) {
    return fail(kAbsent, error);
  } catch (const ValueError& error) {
    return fail(kUsage, error);
  } catch (const std::exception& error) {
    return fail(kFailed, error);
  }
}

int usage(const CLI::App& app, const CLI::ParseError& error) {
  bool asked = error.get_exit_code() == int(CLI::ExitCodes::Success);
  app.exit(error, std::cout, std::cerr);
  return asked ? kSuccess : kUsage;
}

int run(int count, char** words) {
  CLI::App app{"Neural networks from CUDA kernels up, on any machine"};
  app.set_version_flag("--version", std::string("treadle ") + version());
  app.require_subcommand(1);
  app.footer("Example: treadle train fashion_cnn --epochs 5\n`treadle COMMAND --help` tells more.");
  Action chosen;
  for (const Subcommand& entry : kSubcommands) {
    CLI::App* sub = app.add_subcommand(entry.name, entry.description);
    Action action = entry.add(*sub);
    sub->callback([&chosen, action] { chosen = action; });
  }
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    return usage(app, error);
  }
  return guarded(chosen);
}

}  // namespace
}  // namespace treadle::cli

int main(int count, char** words) {
  signal(SIGXFSZ, SIG_IGN);  // a file size limit then shows as a failed write, which keeps the old file
  return treadle::cli::run(count, words);
}
