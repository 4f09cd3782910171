/// Getting the files of known data sets from their mirrors.
#pragma once  // public

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "treadle/core/export.h"

namespace treadle {

struct DownloadProgress {
  std::string file, mirror;
  uint64_t bytes = 0;     ///< of the file so far
  uint64_t expected = 0;  ///< of the whole file; 0 where the server does not say
};

struct DownloadOptions {
  std::filesystem::path folder =
      {};  ///< where the files go; empty: the first place where the set is looked for
  std::vector<std::string> mirrors = {};  ///< asked instead of those that the set declares
  int patience = 30;  ///< seconds without a connection or a byte before a mirror is given up
  std::stop_token stop = {};
  std::function<void(const DownloadProgress&)> on_progress = {};
  std::function<void(const std::string& line)> on_note = {};  ///< told what went wrong, and what is done
};

struct DownloadResult {
  std::filesystem::path folder;
  std::vector<std::string> files;      ///< those that came
  std::vector<std::string> unchecked;  ///< of them, those whose contents nothing is known of
  bool interrupted = false;            ///< what had come is kept
};

/// Gets what is missing of the set, from the first mirror that has it. A file arrives as NAME.part, which a
/// later call goes on with, is compared with its length and SHA-256 where these are known, and renamed. A
/// damaged one is dropped and the next mirror asked. Throws ValueError for a name that is unknown or a set
/// that is made; DatasetAbsent where no mirror gives a file, or libcurl is not there, with what to do;
/// FileError.
TREADLE_API DownloadResult download_dataset(const std::string& name, const DownloadOptions& options);

/// Why nothing can be downloaded here; empty when it can.
TREADLE_API std::string downloads_absence();

}  // namespace treadle
