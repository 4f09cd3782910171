#include "cli/lab/record.h"

#include <cstdlib>
#include <fstream>

#include "cli/standard_output.h"
#include "treadle/core/error.h"
#include "treadle/formats/file.h"

namespace treadle::cli {
namespace {

std::string line_of(const std::string& lesson, const std::string& deed, const std::string& file) {
  return lesson + " " + deed + (file.empty() ? "" : " " + file);
}

std::filesystem::path folder_of_user(const char* variable) {
  const char* folder = std::getenv(variable);
  return folder ? folder : "";
}

}  // namespace

std::filesystem::path LabRecord::path() {
  if (auto folder = folder_of_user("TREADLE_CACHE"); !folder.empty()) return folder / "lab";
  if (auto folder = folder_of_user("XDG_STATE_HOME"); !folder.empty()) return folder / "treadle" / "lab";
  const auto home = folder_of_user("HOME");
  return (home.empty() ? "/tmp" : home) / ".local" / "state" / "treadle" / "lab";
}

LabRecord::LabRecord() {
  std::ifstream file(path());
  for (std::string line; std::getline(file, line);) lines_.insert(line);
}

bool LabRecord::has(const std::string& lesson, const std::string& deed, const std::string& file) const {
  return lines_.count(line_of(lesson, deed, file)) > 0;
}

void LabRecord::add(const std::string& lesson, const std::string& deed, const std::string& file) {
  const std::string line = line_of(lesson, deed, file);
  if (!lines_.insert(line).second) return;
  try {
    std::filesystem::create_directories(path().parent_path());
    append_to_file(path(), line + "\n");
  } catch (const std::exception& error) {
    print_error(std::string("treadle: what was done is not kept: ") + error.what());
  }
}

}  // namespace treadle::cli
