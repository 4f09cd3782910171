#include "cli/command.h"
#include "cli/interruption.h"
#include "cli/simt/build_options.h"
#include "cli/simt/run_options.h"
#include "cli/standard_output.h"
#include "treadle/simt/driver/process.h"

namespace treadle::cli {
namespace {

struct SimtRun : ProgramBuild, ProgramRun {
  static void describe(auto& field) {
    ProgramBuild::describe(field);
    ProgramRun::describe(field);
  }
};

int run(const SimtRun& chosen, const IsGiven& is_given) {
  const std::stop_token stop = stop_on_signals();
  const simt::driver::TemporaryFolder folder;
  const std::string program = chosen.built(folder);
  const auto end = simt::driver::run(chosen.process(program, is_given("--seed"), stop));
  if (end.out_of_time) print_error(fmt::format("treadle: {}", kOutOfTime));
  return stop.stop_requested() ? int(kInterrupted) : end.code;
}

}  // namespace

void register_simt_run(Commands& commands) {
  commands.add(
      {.place = 2,
       .name = "simt run",
       .description = "Build a program of CUDA sources and run it; ends with the program's exit code",
       .example = "treadle simt run vector_add.cu -- 1000000"},
      run);
}

}  // namespace treadle::cli
