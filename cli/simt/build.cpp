#include <fmt/core.h>

#include <filesystem>

#include "cli/command.h"
#include "cli/simt/build_options.h"

namespace treadle::cli {
namespace {

struct SimtBuild : ProgramBuild {
  std::string out, dependencies;
  bool checked = false;

  static void describe(auto& field) {
    using O = SimtBuild;
    ProgramBuild::describe(field);
    field("out", &O::out, "The program; without it the first source's name", {.on_command_line = "-o"});
    field("checked", &O::checked, "For `treadle simt check PROGRAM`: it reports its mistakes");
    field("dependencies", &O::dependencies,
          "Write the headers that it depends on to a file, as make reads it");
  }
};

int run(const SimtBuild& chosen) {
  auto options = chosen.build_options();
  options.program = chosen.out.empty() ? std::filesystem::path(chosen.files[0]).stem().string() : chosen.out;
  options.checked = chosen.checked;
  options.dependencies = chosen.dependencies;
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
