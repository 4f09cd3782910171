#include "cli/command.h"
#include "cli/simt/build_options.h"
#include "cli/simt/run_options.h"
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
  const simt::driver::TemporaryFolder folder;
  auto options = chosen.build_options();
  options.program = folder / "program";
  build(options);
  return simt::driver::run(chosen.process(options.program, is_given("--seed")));
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
