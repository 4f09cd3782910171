/// Options of the commands that build a CUDA program.
#pragma once

#include <string>
#include <vector>

#include "cli/option.h"
#include "treadle/simt/driver/build.h"
#include "treadle/simt/driver/process.h"

namespace treadle::cli {

struct ProgramBuild {
  std::vector<std::string> files, definitions, include_folders, libraries, library_folders;
  std::string standard, optimization, compiler;
  bool debug = false;

  static void describe(auto& field) {
    using O = ProgramBuild;
    field("files", &O::files, "Sources (.cu, .cpp, .c) and what is linked (.o, .a)",
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

  simt::driver::BuildOptions build_options() const {
    return {.sources = files,
            .definitions = definitions,
            .include_folders = include_folders,
            .libraries = libraries,
            .library_folders = library_folders,
            .standard = standard,
            .optimization = optimization,
            .compiler = compiler,
            .debug = debug,
            .checked = false,
            .program = {},
            .dependencies = {}};
  }

  /// The path of the program: built in the folder, or the file itself where it is one.
  std::string built(const simt::driver::TemporaryFolder& folder, bool checked = false) const {
    if (files.size() == 1 && simt::driver::is_program(files[0]))
      return files[0].find('/') == std::string::npos ? "./" + files[0] : files[0];
    auto options = build_options();
    options.checked = checked;
    options.program = folder / "program";
    build(options);
    return options.program;
  }
};

}  // namespace treadle::cli
