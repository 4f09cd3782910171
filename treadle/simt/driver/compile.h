/// One source of a program: from text to object file.
#pragma once

#include <string>

#include "treadle/simt/driver/build.h"
#include "treadle/simt/driver/home.h"

namespace treadle::simt::driver {

struct Compilation {
  std::string source;
  std::string object;       ///< the file that is made
  std::string folder_stem;  ///< the beginning of the names of files in between
};

/// What the compiler has said, and whether it said no.
struct CompilationResult {
  std::string messages;
  bool failed = false;
};

/// Throws SourceError for what is not supported.
CompilationResult compile(const BuildOptions& options, const Home& home, const Compilation& compilation);

/// The words of the host compiler's command, without files.
std::vector<std::string> compiler_words(const BuildOptions& options);

}  // namespace treadle::simt::driver
