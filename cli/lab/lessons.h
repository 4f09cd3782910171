/// The lessons of lab/: each is a folder NN-name with a text (lesson.md), programs (*.cu), and programs with
/// a planted fault (faults/*.cu). Nothing lists them: whoever adds a folder adds a lesson.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/option.h"

namespace treadle::cli {

struct Lesson {
  int64_t number = 0;
  std::string name;  ///< the folder's: "03-transpose"
  std::string title;
  std::filesystem::path folder;
  std::vector<std::filesystem::path> programs, faults;  ///< by name
  std::vector<std::string> ladders;                     ///< ops whose ladders of kernels it climbs
};

/// The folder that holds the lessons: the one given, else the working folder's lab/, else the one that was
/// built or installed with the program. Throws FileError, which says where was looked.
std::filesystem::path lessons_folder(const std::string& given);

/// The lessons of a folder, by number. A ladder is a line `<!-- ladder: OP -->` of a lesson's text.
std::vector<Lesson> lessons_in(const std::filesystem::path& folder);

/// Options of the commands for one lesson.
struct LessonChoice {
  int64_t number = 0;
  std::string folder;

  static void describe(auto& field) {
    using O = LessonChoice;
    field("lesson", &O::number, "Its number", {.on_command_line = "N", .required = true});
    field("lessons", &O::folder, "Folder of the lessons; without it lab/, else those of the installation");
  }

  /// Throws ValueError for a number that no lesson has.
  Lesson lesson() const;
};

}  // namespace treadle::cli
