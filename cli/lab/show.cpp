#include <fmt/core.h>

#include "cli/command.h"
#include "cli/lab/lessons.h"
#include "treadle/formats/file.h"

namespace treadle::cli {
namespace {

struct LabShow : LessonChoice {};

int run(const LabShow& chosen) {
  const auto text = read_file(chosen.lesson().folder / "lesson.md");
  fmt::print("{}", std::string(reinterpret_cast<const char*>(text.data()), text.size()));
  return kSuccess;
}

}  // namespace

void register_lab_show(Commands& commands) {
  commands.add({.place = 1,
                .name = "lab show",
                .description = "The text of a lesson",
                .example = "treadle lab show 1"},
               run);
}

}  // namespace treadle::cli
