/// Options of the commands that build a CUDA program.
#pragma once

#include <string>

#include "cli/option.h"
#include "treadle/simt/driver/build.h"
#include "treadle/simt/driver/process.h"

namespace treadle::cli {

enum class BuildFor { run, check, profile };

struct ProgramBuild : simt::driver::BuildOptions {
  static void describe(auto& field) {
    using O = ProgramBuild;
    field("files", &O::sources, "Sources (.cu, .cpp, .c) and what is linked (.o, .a)",
          {.on_command_line = "FILE", .required = true});
    field("definitions", &O::definitions, "Define a macro: -DNAME or -DNAME=VALUE",
          {.on_command_line = "-D"});
    field("include_folders", &O::include_folders, "Folder of headers", {.on_command_line = "-I"});
    field("libraries", &O::libraries, "Library to link", {.on_command_line = "-l"});
    field("library_folders", &O::library_folders, "Folder of libraries", {.on_command_line = "-L"});
    field("standard", &O::standard, "C++ standard; -std=c++17 is taken, too. Older ones are read as C++20",
          {.on_command_line = "--std"});
    field("optimization", &O::optimization, "Level of optimization", {.on_command_line = "-O"});
    field("debug", &O::debug, "With debug information", {.on_command_line = "-g"});
    field("compiler", &O::compiler, "The host's C++ compiler; without it $CXX, else g++");
  }

  /// The path of the program: built in the folder, or the file itself where it is one.
  std::string built(const simt::driver::TemporaryFolder& folder, BuildFor purpose = BuildFor::run) const {
    if (sources.size() == 1 && simt::driver::is_program(sources[0]))
      return sources[0].find('/') == std::string::npos ? "./" + sources[0] : sources[0];
    simt::driver::BuildOptions options = *this;
    options.checked = purpose == BuildFor::check;
    options.profiled = purpose == BuildFor::profile;
    options.program = folder / "program";
    build(options);
    return options.program;
  }
};

}  // namespace treadle::cli
