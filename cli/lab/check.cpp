#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/interruption.h"
#include "cli/lab/lessons.h"
#include "cli/lab/record.h"
#include "cli/simt/report_json.h"
#include "cli/simt/report_text.h"
#include "cli/simt/run_options.h"
#include "cli/standard_output.h"
#include "treadle/simt/driver/build.h"
#include "treadle/simt/driver/check.h"

namespace treadle::cli {
namespace {

struct LabCheck : LessonChoice, ProgramRun {
  bool json = false;

  static void describe(auto& field) {
    using O = LabCheck;
    LessonChoice::describe(field);
    ProgramRun::describe(field);
    field("json", &O::json, "One JSON object on the last line");
  }
};

/// A program of a lesson, checked.
struct CheckedProgram {
  std::string file;  ///< from the lesson's folder
  bool has_fault = false;
  simt::driver::CheckedRun run = {};

  const std::vector<simt::Report>& reports() const { return run.report.reports; }
  bool ended_well() const { return run.complete && run.end.code == 0; }
  bool is_clean() const { return reports().empty() && ended_well(); }
  std::string outcome() const {
    if (!reports().empty()) return count_text(reports());
    if (!ended_well()) return fmt::format("no report, but the program ended with {}", run.end.code);
    return has_fault ? "mended: clean and right" : "clean and right";
  }
};

CheckedProgram check(const LabCheck& chosen, const std::filesystem::path& source, const std::string& name,
                     const IsGiven& is_given, const std::stop_token& stop) {
  const simt::driver::TemporaryFolder folder;
  simt::driver::BuildOptions options;
  options.sources = {source.string()};
  options.program = folder / "program";
  options.checked = true;
  build(options);
  simt::driver::Process process = chosen.process(options.program, is_given("--seed"), stop);
  process.output = folder / "output";  // what they print is for `lab run`
  return {name, name.starts_with("faults/"), run_checked(process)};
}

std::vector<CheckedProgram> check_all(const LabCheck& chosen, const Lesson& lesson, const IsGiven& is_given,
                                      const std::stop_token& stop) {
  std::vector<CheckedProgram> programs;
  for (const auto* files : {&lesson.programs, &lesson.faults})
    for (const auto& file : *files) {
      if (stop.stop_requested()) return programs;
      const std::string name = (files == &lesson.faults ? "faults/" : "") + file.filename().string();
      programs.push_back(check(chosen, file, name, is_given, stop));
    }
  return programs;
}

void record(const Lesson& lesson, const std::vector<CheckedProgram>& programs) {
  LabRecord record;
  bool all_clean = true;
  for (const CheckedProgram& program : programs) {
    if (!program.has_fault) {
      all_clean &= program.is_clean();
      continue;
    }
    const std::string file = std::filesystem::path(program.file).filename().string();
    if (!program.reports().empty()) record.add(lesson.name, "found", file);
    if (program.is_clean()) record.add(lesson.name, "mended", file);
  }
  if (all_clean) record.add(lesson.name, "checked");
}

/// The worst that happened to any of them.
int code_of(const std::vector<CheckedProgram>& programs) {
  int code = kSuccess;
  for (const CheckedProgram& program : programs)
    code = std::max(code, int(!program.reports().empty() ? kReports
                              : program.ended_well()     ? kSuccess
                                                         : kFailed));
  return code;
}

void print_text(const Lesson& lesson, const std::vector<CheckedProgram>& programs,
                const std::string& schedule) {
  const bool color = isatty(STDOUT_FILENO);
  std::vector<std::vector<std::string>> rows{{"program", "checked"}};
  int64_t open = 0;
  for (const CheckedProgram& program : programs) {
    rows.push_back({program.file, program.outcome()});
    open += program.has_fault && !program.is_clean();
    for (const simt::Report& report : program.reports()) fmt::print("{}\n", text_of(report, color));
  }
  fmt::print("lesson {}, {}\n{}", lesson.number, schedule, table(rows));
  if (open > 0)
    fmt::print("{} fault(s) to mend: edit the files in {} until this command finds nothing\n", open,
               (lesson.folder / "faults").string());
}

Json json_of_program(const CheckedProgram& program) {
  std::vector<Json> reports;
  for (const simt::Report& report : program.reports()) reports.push_back(json_of(report));
  return {{"program", program.file},
          {"fault", program.has_fault},
          {"exit_code", program.run.end.code},
          {"clean", program.is_clean()},
          {"reports", reports}};
}

int run(const LabCheck& chosen, const IsGiven& is_given) {
  const Lesson lesson = chosen.lesson();
  const std::stop_token stop = stop_on_signals();
  const std::vector<CheckedProgram> programs = check_all(chosen, lesson, is_given, stop);
  if (stop.stop_requested()) return kInterrupted;
  record(lesson, programs);
  if (chosen.json) {
    std::vector<Json> list;
    for (const CheckedProgram& program : programs) list.push_back(json_of_program(program));
    print_json(Json{{"lesson", lesson.number}, {"programs", list}});
  } else {
    print_text(lesson, programs, chosen.schedule_words(is_given("--seed")));
  }
  return code_of(programs);
}

}  // namespace

void register_lab_check(Commands& commands) {
  commands.add({.place = 3,
                .name = "lab check",
                .description = "Check the programs of a lesson, those with a planted fault, too; ends with 4 "
                               "while there is a report",
                .example = "treadle lab check 1"},
               run);
}

}  // namespace treadle::cli
