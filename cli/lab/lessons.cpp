#include "cli/lab/lessons.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <fstream>

#include "treadle/core/error.h"

namespace treadle::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLadder = "<!-- ladder: ", kEndOfLadder = " -->";

/// "03-transpose" → 3; 0 for what is no lesson.
int64_t number_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  const bool is_lesson = name.size() > 3 && std::isdigit(static_cast<unsigned char>(name[0])) &&
                         std::isdigit(static_cast<unsigned char>(name[1])) && name[2] == '-' &&
                         fs::is_regular_file(folder / "lesson.md");
  return is_lesson ? std::stoll(name.substr(0, 2)) : 0;
}

std::vector<fs::path> sources_in(const fs::path& folder) {
  std::vector<fs::path> sources;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".cu") sources.push_back(entry.path());
  std::sort(sources.begin(), sources.end());
  return sources;
}

/// The first heading, "# 3. Transposition", without its number.
std::string title_in(const std::string& heading) {
  const size_t dot = heading.find(". ");
  return heading.substr(dot == std::string::npos ? heading.find_first_not_of("# ") : dot + 2);
}

Lesson lesson_in(const fs::path& folder, int64_t number) {
  Lesson lesson;
  lesson.number = number;
  lesson.name = folder.filename().string();
  lesson.folder = folder;
  lesson.programs = sources_in(folder);
  lesson.faults = sources_in(folder / "faults");
  std::ifstream text(folder / "lesson.md");
  for (std::string line; std::getline(text, line);) {
    if (lesson.title.empty() && line.starts_with("# ")) lesson.title = title_in(line);
    if (line.starts_with(kLadder) && line.ends_with(kEndOfLadder))
      lesson.ladders.push_back(
          line.substr(kLadder.size(), line.size() - kLadder.size() - kEndOfLadder.size()));
  }
  return lesson;
}

bool holds_lessons(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (number_of(entry.path()) > 0) return true;
  return false;
}

/// Beside the program in a build folder, or below an installation's prefix.
std::vector<fs::path> usual_places() {
  std::error_code error;
  const fs::path program = fs::canonical("/proc/self/exe", error), folder = program.parent_path();
  return {"lab", folder / "lab", folder.parent_path() / "share/treadle/lab"};
}

}  // namespace

fs::path lessons_folder(const std::string& given) {
  std::string looked;
  for (const fs::path& place : given.empty() ? usual_places() : std::vector<fs::path>{given}) {
    if (holds_lessons(place)) return place;
    looked += (looked.empty() ? "" : ", ") + place.string();
  }
  throw FileError(
      fmt::format("no lessons were found in {}; --lessons names the folder that holds them", looked));
}

std::vector<Lesson> lessons_in(const fs::path& folder) {
  std::vector<Lesson> lessons;
  for (const auto& entry : fs::directory_iterator(folder))
    if (const int64_t number = number_of(entry.path()); number > 0)
      lessons.push_back(lesson_in(entry.path(), number));
  std::sort(lessons.begin(), lessons.end(), [](const Lesson& a, const Lesson& b) { return a.name < b.name; });
  return lessons;
}

Lesson LessonChoice::lesson() const {
  const std::vector<Lesson> lessons = lessons_in(lessons_folder(folder));
  for (const Lesson& lesson : lessons)
    if (lesson.number == number) return lesson;
  throw ValueError(fmt::format("there is no lesson {}; `treadle lab` lists those from {} to {}", number,
                               lessons.front().number, lessons.back().number));
}

}  // namespace treadle::cli
