/// The treadle program: picks the subcommand, and turns exceptions into one sentence and an exit code.
#include <fmt/core.h>
#include <signal.h>

#include <cstdio>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/measuring_note.h"
#include "cli/standard_output.h"
#include "cli/usage.h"
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
  print_error(fmt::format("treadle: {}", error.what()));
  return code;
}

int guarded(const Action& action) {
  try {
    return action();
  } catch (const DatasetAbsent& error) {
    return fail(kAbsent, error);
  } catch (const DeviceAbsent& error) {
    return fail(kAbsent, error);
  } catch (const ValueError& error) {
    return fail(kUsage, error);
  } catch (const std::exception& error) {
    // A write to a full device ends here; finish_output() tells of it.
    return std::ferror(stdout) ? kFailed : fail(kFailed, error);
  }
}

int usage(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == int(CLI::ExitCodes::Success)) return app.exit(error, std::cout, std::cerr);
  print_error(usage_message(app, error));
  return kUsage;
}

int run(int count, char** words) {
  CLI::App app{"Neural networks from CUDA kernels up, on any machine", "treadle"};
  app.set_version_flag("--version", std::string("treadle ") + version());
  app.require_subcommand(1);
  app.footer("Example: treadle train fashion_cnn --epochs 5\n`treadle help COMMAND` tells more.");
  Action chosen;
  for (const Subcommand& entry : kSubcommands) {
    CLI::App* sub = app.add_subcommand(entry.name, entry.description);
    Action action = entry.add(*sub);
    sub->callback([&chosen, action] { chosen = action; });
  }
  try {
    auto arguments = arguments_of(app, count, words);
    app.parse(std::vector(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return usage(app, error);
  } catch (const ValueError& error) {
    return fail(kUsage, error);
  }
  MeasuringNote note(on_terminal());
  return guarded(chosen);
}

}  // namespace
}  // namespace treadle::cli

int main(int count, char** words) {
  signal(SIGPIPE,
         SIG_DFL);  // whoever read our output has enough: end without a word, whatever our parent ignored
  signal(SIGXFSZ, SIG_IGN);  // a file size limit then shows as a failed write, which keeps the old file
  treadle::cli::occupy_standard_streams();
  return treadle::cli::finish_output(treadle::cli::run(count, words));
}
