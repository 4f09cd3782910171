#include <fmt/core.h>
#include <unistd.h>

#include <numeric>

#include "cli/command.h"
#include "cli/interruption.h"
#include "cli/simt/build_options.h"
#include "cli/simt/report_json.h"
#include "cli/simt/report_text.h"
#include "cli/simt/run_options.h"
#include "cli/standard_output.h"
#include "treadle/formats/file.h"
#include "treadle/simt/driver/check.h"
#include "treadle/simt/driver/suppressions.h"

namespace treadle::cli {
namespace {

using simt::driver::CheckedRun;
using simt::driver::Suppression;

struct SimtCheck : ProgramBuild, ProgramRun {
  std::string sarif;
  std::vector<std::string> suppress;
  bool json = false;

  static void describe(auto& field) {
    using O = SimtCheck;
    ProgramBuild::describe(field);
    ProgramRun::describe(field);
    field("sarif", &O::sarif, "Write the reports to a file in SARIF, for editors and code hosts");
    field("suppress", &O::suppress,
          "File of reports that are not wanted, lines of KIND KERNEL FILE:LINE  # reason");
    field("json", &O::json, "One JSON object on the last line");
  }
};

/// What is left to see of a run.
struct Outcome {
  CheckedRun run;
  std::vector<Suppression> suppressions;
  std::string schedule;  ///< as options: "--schedule random --seed 7"

  uint64_t suppressed() const {
    return std::accumulate(suppressions.begin(), suppressions.end(), uint64_t{0},
                           [](uint64_t sum, const Suppression& s) { return sum + s.used; });
  }
  int code() const {
    if (!run.report.reports.empty()) return kReports;
    return run.complete && run.end.code == 0 ? kSuccess : kFailed;
  }
};

std::string ending(const CheckedRun& run) {
  if (run.end.out_of_time) return kOutOfTime;
  if (!run.complete) return fmt::format("the program ended with {} and left no report", run.end.code);
  return run.end.code == 0 ? "" : fmt::format("the program ended with {}", run.end.code);
}

void print_text(const Outcome& outcome) {
  const auto& reports = outcome.run.report.reports;
  const bool color = isatty(STDOUT_FILENO);
  for (const simt::Report& report : reports) fmt::print("\n{}", text_of(report, color));
  if (!reports.empty()) fmt::print("\n{}", count_text(reports));
  if (reports.empty()) fmt::print("nothing was found");
  fmt::print(" in {} launch(es), {}", outcome.run.report.launches, outcome.schedule);
  if (outcome.suppressed() > 0) fmt::print("; {} report(s) suppressed", outcome.suppressed());
  const std::string end = ending(outcome.run);
  fmt::print("{}{}\n", end.empty() ? "" : "; ", end);
  for (const Suppression& suppression : outcome.suppressions)
    if (suppression.used == 0) fmt::print("{}: this suppression fits no report\n", suppression.place);
}

void print_as_json(const Outcome& outcome, const std::string& program) {
  std::vector<Json> reports, unused;
  for (const simt::Report& report : outcome.run.report.reports) reports.push_back(json_of(report));
  for (const Suppression& suppression : outcome.suppressions)
    if (suppression.used == 0) unused.push_back(suppression.place);
  print_json(Json{{"program", program},
                  {"schedule", outcome.run.report.schedule},
                  {"seed", int64_t(outcome.run.report.seed)},
                  {"exit_code", outcome.run.end.code},
                  {"complete", outcome.run.complete},
                  {"out_of_time", outcome.run.end.out_of_time},
                  {"launches", int64_t(outcome.run.report.launches)},
                  {"seconds", outcome.run.report.seconds},
                  {"reports", reports},
                  {"suppressed", int64_t(outcome.suppressed())},
                  {"unused_suppressions", unused}});
}

int run(const SimtCheck& chosen, const IsGiven& is_given) {
  Outcome outcome;
  for (const std::string& file : chosen.suppress)
    for (Suppression& suppression : simt::driver::read_suppressions(file))
      outcome.suppressions.push_back(std::move(suppression));
  const std::stop_token stop = stop_on_signals();
  const simt::driver::TemporaryFolder folder;
  const std::string program = chosen.built(folder, BuildFor::check);
  outcome.run = run_checked(chosen.process(program, is_given("--seed"), stop));
  if (stop.stop_requested()) return kInterrupted;
  outcome.schedule = chosen.schedule_words(is_given("--seed"));
  suppress(outcome.run.report.reports, outcome.suppressions);
  if (!chosen.sarif.empty()) replace_text(chosen.sarif, sarif_of(outcome.run.report).text() + "\n");
  if (chosen.json)
    print_as_json(outcome, chosen.sources[0]);
  else
    print_text(outcome);
  return outcome.code();
}

}  // namespace

void register_simt_check(Commands& commands) {
  commands.add(
      {.place = 3,
       .name = "simt check",
       .description = "Build a program of CUDA sources, run it, and report races, accesses out of bounds, "
                      "uninitialised reads and other mistakes; ends with 4 where there are any",
       .example = "treadle simt check reduce.cu --schedule random --seed 7 -- 4096"},
      run);
}

}  // namespace treadle::cli
