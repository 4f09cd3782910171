/// What a user has done of the lessons.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace treadle::cli {

/// Kept in a file of the user's as lines LESSON DEED [FILE], to which one is added for each new deed. The
/// file is `lab` in $TREADLE_CACHE, else in treadle/ of $XDG_STATE_HOME or ~/.local/state.
class LabRecord {
 public:
  LabRecord();

  /// Deeds are "run" (the lesson's programs), "checked" (they were clean), and of a program with a fault
  /// "found" (it was reported) and "mended" (it is clean and right now).
  bool has(const std::string& lesson, const std::string& deed, const std::string& file = "") const;
  /// A file that cannot be written is told on stderr.
  void add(const std::string& lesson, const std::string& deed, const std::string& file = "");

  static std::filesystem::path path();

 private:
  std::set<std::string> lines_;
};

}  // namespace treadle::cli
