#include <fmt/core.h>

#include <sstream>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/interruption.h"
#include "cli/lab/counters.h"
#include "cli/lab/ladder.h"
#include "cli/lab/lessons.h"
#include "cli/lab/record.h"
#include "cli/simt/run_options.h"
#include "cli/standard_output.h"
#include "treadle/simt/driver/build.h"

namespace treadle::cli {
namespace {

struct LabRun : LessonChoice, ProgramRun {
  std::string program, card = "H100";
  bool counters = false, json = false;

  static void describe(auto& field) {
    using O = LabRun;
    LessonChoice::describe(field);
    field("program", &O::program, "Only this program of the lesson, and no ladder",
          {.on_command_line = "PROGRAM"});
    ProgramRun::describe(field);
    field("counters", &O::counters, "Count what each kernel asks of a GPU, too: see `treadle simt profile`");
    field("card", &O::card, "GPU that bounds are for: " + simt::names_of_cards());
    field("json", &O::json, "One JSON object on the last line");
  }
};

/// A row of a program's table, as lab/lab.h prints them: KERNEL right|WRONG TIME ms …
struct KernelRow {
  std::string kernel;
  bool right = false;
  double milliseconds = 0;
};

struct ProgramResult {
  std::string file, output;
  int code = 0;
  std::vector<KernelRow> kernels = {};
  std::vector<KernelCounts> counts = {};
};

std::vector<KernelRow> kernel_rows(const std::string& output) {
  std::vector<KernelRow> rows;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    KernelRow row;
    std::string result, unit;
    words >> row.kernel >> result >> row.milliseconds >> unit;
    row.right = result == "right";
    if ((row.right || result == "WRONG") && unit == "ms") rows.push_back(row);
  }
  return rows;
}

ProgramResult run_program(const LabRun& chosen, const simt::Card& card, const std::filesystem::path& source,
                          const IsGiven& is_given, const std::stop_token& stop) {
  const simt::driver::TemporaryFolder folder;
  simt::driver::BuildOptions options;
  options.sources = {source.string()};
  options.program = folder / "program";
  build(options);
  simt::driver::Process process = chosen.process(options.program, is_given("--seed"), stop);
  process.environment.emplace_back("LAB_REPEATS", "3");  // the first launch starts the executor's threads
  ProgramResult result{.file = source.filename().string(), .output = ""};
  process.hear = [&](std::string_view text) {
    result.output += text;
    if (chosen.json) return;
    fmt::print("{}", text);
    std::fflush(stdout);
  };
  if (!chosen.json) fmt::print("{}\n", result.file);
  std::fflush(stdout);
  result.code = run(process).code;
  result.kernels = kernel_rows(result.output);
  if (chosen.counters && result.code == 0)
    result.counts = counts_of(source, chosen.process("", is_given("--seed"), stop), card);
  return result;
}

/// Those of the lesson that were chosen. Throws ValueError for a name that it does not have.
std::vector<std::filesystem::path> chosen_programs(const LabRun& chosen, const Lesson& lesson) {
  if (chosen.program.empty()) return lesson.programs;
  std::string names;
  for (const auto& program : lesson.programs) {
    if (program.filename() == chosen.program || program.stem() == chosen.program) return {program};
    names += (names.empty() ? "" : ", ") + program.filename().string();
  }
  throw ValueError(
      fmt::format("lesson {} has no program {}; it has {}", lesson.number, chosen.program, names));
}

/// What stands below a program's own output.
void print_end(const ProgramResult& result, const std::string& card) {
  if (result.code != 0) fmt::print("{} ended with {}\n", result.file, result.code);
  if (!result.counts.empty()) fmt::print("\ncounters, and bounds on {}\n{}", card, table_of(result.counts));
  fmt::print("\n");
}

void print_ladder(const std::string& op, const std::vector<RungRun>& rungs) {
  std::vector<std::vector<std::string>> rows{{"rung", "variant", "call", "time", "largest error", "idea"}};
  for (const RungRun& rung : rungs)
    rows.push_back({std::to_string(rung.rung), rung.variant, rung.dtype + " " + rung.label,
                    fmt::format("{:.3f} ms", 1e3 * rung.seconds), fmt::format("{:.1e}", rung.error),
                    rung.idea});
  fmt::print("ladder of {}\n{}\n", op, table(rows, {0, 3, 4}));
}

Json json_of_program(const ProgramResult& result) {
  std::vector<Json> kernels;
  for (const KernelRow& row : result.kernels)
    kernels.push_back({{"kernel", row.kernel}, {"right", row.right}, {"milliseconds", row.milliseconds}});
  std::vector<Json> counts;
  for (const KernelCounts& one : result.counts) counts.push_back(json_of(one));
  return {{"program", result.file}, {"exit_code", result.code}, {"kernels", kernels}, {"counters", counts}};
}

Json json_of_ladder(const std::string& op, const std::vector<RungRun>& rungs) {
  std::vector<Json> list;
  for (const RungRun& rung : rungs)
    list.push_back({{"rung", rung.rung},
                    {"variant", rung.variant},
                    {"idea", rung.idea},
                    {"dtype", rung.dtype},
                    {"case", rung.label},
                    {"seconds", rung.seconds},
                    {"largest_error", rung.error}});
  return {{"op", op}, {"rungs", list}};
}

int run(const LabRun& chosen, const IsGiven& is_given) {
  const Lesson lesson = chosen.lesson();
  const std::vector<std::filesystem::path> programs = chosen_programs(chosen, lesson);
  const simt::Card& card = simt::card_named(chosen.card);
  const std::stop_token stop = stop_on_signals();
  if (!chosen.json) fmt::print("{}. {}\n\n", lesson.number, lesson.title);
  bool all_well = true;
  std::vector<Json> results, ladders;
  for (const auto& program : programs) {
    const ProgramResult result = run_program(chosen, card, program, is_given, stop);
    if (stop.stop_requested()) return kInterrupted;
    all_well &= result.code == 0;
    results.push_back(json_of_program(result));
    if (!chosen.json) print_end(result, card.name);
  }
  for (const std::string& op : chosen.program.empty() ? lesson.ladders : std::vector<std::string>{}) {
    if (stop.stop_requested()) return kInterrupted;
    const std::vector<RungRun> rungs = climb(op);
    ladders.push_back(json_of_ladder(op, rungs));
    if (!chosen.json) print_ladder(op, rungs);
  }
  if (all_well && chosen.program.empty()) LabRecord().add(lesson.name, "run");
  if (chosen.json) print_json(Json{{"lesson", lesson.number}, {"programs", results}, {"ladders", ladders}});
  return all_well ? kSuccess : kFailed;
}

}  // namespace

void register_lab_run(Commands& commands) {
  commands.add({.place = 2,
                .name = "lab run",
                .description = "Run the programs of a lesson and the ladders of kernels that belong to it, "
                               "and compare them",
                .example = "treadle lab run 4"},
               run);
}

}  // namespace treadle::cli
