/// Options of the commands that run a CUDA program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/option.h"
#include "cli/option_checks.h"
#include "treadle/simt/driver/process.h"

namespace treadle::cli {

struct ProgramRun {
  std::string schedule = "forward";
  uint64_t seed = 0;
  int64_t workers = 0;
  std::vector<std::string> arguments;

  static void describe(auto& field) {
    using O = ProgramRun;
    field("schedule", &O::schedule, "Order of blocks and threads",
          {.check = one_of({"forward", "reverse", "random"})});
    field("seed", &O::seed, "Of the random schedule, which it chooses", {.check = seed_number()});
    field("workers", &O::workers, "Threads that run blocks; 0: one for each core",
          {.check = whole_number(0)});
    field("arguments", &O::arguments, "Arguments of the program, behind --", {.behind_dashes = true});
  }

  /// "forward", "reverse" or "random:SEED"
  std::string schedule_text(bool seed_given) const {
    return schedule == "random" || seed_given ? "random:" + std::to_string(seed) : schedule;
  }

  /// "--schedule random --seed 7": what gives the same order again.
  std::string schedule_words(bool seed_given) const {
    const bool random = schedule == "random" || seed_given;
    return random ? "--schedule random --seed " + std::to_string(seed) : "--schedule " + schedule;
  }

  simt::driver::Process process(const std::string& program, bool seed_given) const {
    simt::driver::Process process{.words = {program}};
    process.words.insert(process.words.end(), arguments.begin(), arguments.end());
    process.environment.emplace_back("TREADLE_SIMT_SCHEDULE", schedule_text(seed_given));
    if (workers > 0) process.environment.emplace_back("TREADLE_SIMT_WORKERS", std::to_string(workers));
    return process;
  }
};

}  // namespace treadle::cli
