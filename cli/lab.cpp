#include <fmt/core.h>

#include <algorithm>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/lab/lessons.h"
#include "cli/lab/record.h"
#include "cli/standard_output.h"

namespace treadle::cli {
namespace {

struct Lab {
  std::string folder;
  bool json = false;

  static void describe(auto& field) {
    using O = Lab;
    field("lessons", &O::folder, "Folder of the lessons; without it lab/, else those of the installation");
    field("json", &O::json, "One JSON object");
  }
};

/// The names of a lesson's programs with a fault of which the user has done this.
std::vector<std::string> faults_with(const Lesson& lesson, const LabRecord& record, const std::string& deed) {
  std::vector<std::string> names;
  for (const auto& fault : lesson.faults)
    if (record.has(lesson.name, deed, fault.filename().string())) names.push_back(fault.filename().string());
  return names;
}

std::vector<std::string> names_of(const std::vector<std::filesystem::path>& files) {
  std::vector<std::string> names;
  for (const auto& file : files) names.push_back(file.filename().string());
  return names;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

bool is_done(const Lesson& lesson, const LabRecord& record) {
  return record.has(lesson.name, "run") && record.has(lesson.name, "checked") &&
         faults_with(lesson, record, "mended").size() == lesson.faults.size();
}

Json json_of_lesson(const Lesson& lesson, const LabRecord& record) {
  return {{"number", lesson.number},
          {"name", lesson.name},
          {"title", lesson.title},
          {"folder", lesson.folder.string()},
          {"programs", names_of(lesson.programs)},
          {"faults", names_of(lesson.faults)},
          {"ladders", lesson.ladders},
          {"run", record.has(lesson.name, "run")},
          {"checked", record.has(lesson.name, "checked")},
          {"found", faults_with(lesson, record, "found")},
          {"mended", faults_with(lesson, record, "mended")},
          {"done", is_done(lesson, record)}};
}

std::vector<std::string> row_of(const Lesson& lesson, const LabRecord& record) {
  const auto yes = [&](const std::string& deed) { return record.has(lesson.name, deed) ? "yes" : "-"; };
  const auto of_all = [&](const std::string& deed) {
    return fmt::format("{} of {}", faults_with(lesson, record, deed).size(), lesson.faults.size());
  };
  return {std::to_string(lesson.number),
          lesson.title,
          yes("run"),
          yes("checked"),
          of_all("found"),
          of_all("mended"),
          joined(lesson.ladders)};
}

void print_list(const std::filesystem::path& folder, const std::vector<Lesson>& lessons,
                const LabRecord& record) {
  std::vector<std::vector<std::string>> rows{
      {"", "lesson", "run", "checked", "faults found", "mended", "ladders of kernels"}};
  for (const Lesson& lesson : lessons) rows.push_back(row_of(lesson, record));
  fmt::print("{}", table(rows, {0}));
  const auto next = std::find_if_not(lessons.begin(), lessons.end(),
                                     [&](const Lesson& lesson) { return is_done(lesson, record); });
  if (next == lessons.end())
    fmt::print("All lessons are done.\n");
  else
    fmt::print("Next: {}; then `treadle lab run {}` and `treadle lab check {}`\n",
               (next->folder / "lesson.md").string(), next->number, next->number);
  if (lessons.empty()) fmt::print("{} holds no lessons\n", folder.string());
}

int run(const Lab& lab) {
  const std::filesystem::path folder = lessons_folder(lab.folder);
  const std::vector<Lesson> lessons = lessons_in(folder);
  const LabRecord record;
  if (!lab.json) {
    print_list(folder, lessons, record);
    return kSuccess;
  }
  std::vector<Json> list;
  for (const Lesson& lesson : lessons) list.push_back(json_of_lesson(lesson, record));
  print_json(Json{{"folder", folder.string()}, {"record", LabRecord::path().string()}, {"lessons", list}});
  return kSuccess;
}

}  // namespace

void register_lab(Commands& commands) {
  commands.add(
      {.place = 12,
       .name = "lab",
       .description = "Lessons on CUDA kernels, and what of them was done: run, check, mend, compare",
       .example = "treadle lab\n         treadle lab run 1"},
      run);
}

}  // namespace treadle::cli
