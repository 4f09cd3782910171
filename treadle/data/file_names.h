/// Whether files and folders are there; what cannot be looked at counts as absent.
#pragma once

#include <filesystem>

namespace treadle {

inline bool is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

inline bool is_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

}  // namespace treadle
