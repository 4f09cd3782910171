/// Options of the commands that run a CUDA program.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/option.h"
#include "cli/option_checks.h"
#include "treadle/simt/driver/process.h"

namespace treadle::cli {

/// Said of a program that was ended.
inline constexpr char kOutOfTime[] = "the program was ended because its time (--limit) was up";

struct ProgramRun {
  std::string schedule = "forward";
  uint64_t seed = 0;
  int64_t workers = 0;
  double limit = 600;
  bool no_limit = false;
  std::vector<std::string> arguments;

  static void describe(auto& field) {
    using O = ProgramRun;
    field("schedule", &O::schedule, "Order of blocks and threads",
          {.check = one_of({"forward", "reverse", "random"})});
    field("seed", &O::seed, "Of the random schedule, which it chooses", {.check = seed_number()});
    field("workers", &O::workers, "Threads that run blocks; 0: one for each core",
          {.check = whole_number(0)});
    field("limit", &O::limit, "Seconds after which the program is ended", {.check = positive_number()});
    field("no_limit", &O::no_limit, "Let it run for as long as it takes", {.excludes = {"--limit"}});
    field("arguments", &O::arguments, "Arguments of the program, behind --", {.behind_dashes = true});
  }

  bool random(bool seed_given) const { return schedule == "random" || seed_given; }

  /// "forward", "reverse" or "random:SEED"
  std::string schedule_text(bool seed_given) const {
    return random(seed_given) ? "random:" + std::to_string(seed) : schedule;
  }

  /// "--schedule random --seed 7": what gives the same order again.
  std::string schedule_words(bool seed_given) const {
    return random(seed_given) ? "--schedule random --seed " + std::to_string(seed) : "--schedule " + schedule;
  }

  simt::driver::Process process(const std::string& program, bool seed_given, std::stop_token stop) const {
    // The program itself ends in time with a report; where it goes on, a checked one writes what it has found
    // by then, and it is killed.
    const double to_report = std::min(10.0, 10 * limit);
    simt::driver::Process process{
        .words = {program}, .seconds = no_limit ? 0 : limit + to_report, .stop = std::move(stop)};
    process.words.insert(process.words.end(), arguments.begin(), arguments.end());
    process.environment.emplace_back("TREADLE_SIMT_SCHEDULE", schedule_text(seed_given));
    process.environment.emplace_back("TREADLE_SIMT_LIMIT",
                                     no_limit ? "0" : fmt::format("{:.0f}", std::ceil(limit)));
    if (!no_limit)
      process.environment.emplace_back("TREADLE_SIMT_REPORT_AT", fmt::format("{:.0f}", limit * 1000));
    if (workers > 0) process.environment.emplace_back("TREADLE_SIMT_WORKERS", std::to_string(workers));
    return process;
  }
};

}  // namespace treadle::cli
