/// Where the headers and libraries that programs are built with lie.
#pragma once

#include <filesystem>

namespace treadle::simt::driver {

struct Home {
  std::filesystem::path headers;    ///< holds treadle/simt
  std::filesystem::path libraries;  ///< holds libtreadle_simt.a
};

/// Found from where the running program lies: in a build folder, below an installation's prefix, or in the
/// Python package. Throws FileError, which says where was looked.
Home find_home();

}  // namespace treadle::simt::driver
