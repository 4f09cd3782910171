/// Builds programs of CUDA C++ for the executor.
#pragma once

#include <string>
#include <vector>

#include "treadle/core/error.h"

namespace treadle::simt::driver {

struct BuildOptions {
  /// .cu is CUDA C++, .cpp and its kin C++ that may call CUDA's host API; objects and archives are linked.
  std::vector<std::string> sources;
  std::vector<std::string> definitions, include_folders, libraries,
      library_folders;       ///< as behind -D -I -l -L
  std::string standard;      ///< "c++20"; the executor's headers need C++20, so older ones are not kept to
  std::string optimization;  ///< as behind -O; empty: 3, or 1 where checked or profiled
  std::string compiler;      ///< empty: the environment's CXX, else g++
  bool debug = false;        ///< with debug information; checked and profiled programs always have it
  bool checked = false;
  bool profiled = false;     ///< or so, for counters
  std::string program;       ///< the file that is made
  std::string dependencies;  ///< a file for the headers that it depends on, as make reads it; empty: none
};

/// What the compiler or the linker has said no to; its messages are on stderr, as they are.
struct BuildError : Error {
  using Error::Error;
};

/// Whether a file is a program that was built already: executable, and no source, object or library by its
/// name.
bool is_program(const std::string& file);

/// Builds it. Throws BuildError, SourceError for what is not supported (FILE:LINE: …), FileError for files
/// that are not there.
void build(const BuildOptions& options);

}  // namespace treadle::simt::driver
