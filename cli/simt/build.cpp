#include <fmt/core.h>

#include <filesystem>

#include "cli/command.h"
#include "cli/simt/build_options.h"

namespace treadle::cli {
namespace {

struct SimtBuild : ProgramBuild {
  static void describe(auto& field) {
    using O = SimtBuild;
    ProgramBuild::describe(field);
    field("out", &O::program, "The program; without it the first source's name", {.on_command_line = "-o"});
    field("checked", &O::checked, "For `treadle simt check PROGRAM`: it reports its mistakes");
    field("profiled", &O::profiled, "For `treadle simt profile PROGRAM`: it counts what its kernels do",
          {.excludes = {"--checked"}});
    field("dependencies", &O::dependencies,
          "Write the headers that it depends on to a file, as make reads it");
  }
};

int run(const SimtBuild& chosen) {
  simt::driver::BuildOptions options = chosen;
  if (options.program.empty()) options.program = std::filesystem::path(options.sources[0]).stem().string();
  build(options);
  fmt::print("{}\n", options.program);
  return kSuccess;
}

}  // namespace

void register_simt_build(Commands& commands) {
  commands.add({.place = 1,
                .name = "simt build",
                .description = "Build a program of CUDA sources that runs on the processor",
                .example = "treadle simt build main.cu kernels.cu -DSIZE=64 -o program"},
               run);
}

}  // namespace treadle::cli
