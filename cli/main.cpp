/// The treadle program: picks the subcommand, and turns exceptions into one sentence and an exit code.
#include <fmt/core.h>
#include <signal.h>

#include <cstdio>

#include "cli/command_line.h"
#include "cli/format.h"
#include "cli/measuring_note.h"
#include "cli/standard_output.h"
#include "treadle/core/error.h"
#include "treadle/data/dataset.h"

namespace treadle::cli {
namespace {

int fail(int code, const std::exception& error) {
  print_error(fmt::format("treadle: {}", error.what()));
  return code;
}

int guarded(const std::function<int()>& action) {
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

int run(int count, char** words) {
  const Commands commands = all_commands();
  Choice choice = choose(commands, count, words);
  if (!choice.action) return choice.code;
  MeasuringNote note(on_terminal());
  return guarded(choice.action);
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
