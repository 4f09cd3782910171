/// The options that choose device, engine, variants and threads, shared by the subcommands that run a model.
#pragma once

#include <string>
#include <vector>

#include "cli/option_checks.h"
#include "treadle/core/device.h"

namespace treadle::cli {

struct RunSettings {
  std::string device = "auto", engine = "any";
  std::vector<std::string> variant;
  int64_t threads = 0;  ///< 0: the default number
  bool deterministic = false, eager = false, keep_subnormals = false;

  static void describe(auto& field) {
    field("device", &RunSettings::device, device_names() + "; simt: CUDA kernels on the CPU",
          {.kept = Kept::renewable});
    field("engine", &RunSettings::engine, "own: only Treadle's kernels; any: libraries too",
          {.check = one_of({"own", "any"}), .kept = Kept::fixed});
    field("variant", &RunSettings::variant, "OP=NAME: run this variant of an op; may be repeated",
          {.kept = Kept::fixed});
    field("threads", &RunSettings::threads,
          "CPU threads; default: TREADLE_THREADS, else all cores that the affinity mask and control "
          "groups grant",
          {.check = whole_number(1, 1024), .default_shown = false, .kept = Kept::renewable});
    field("deterministic", &RunSettings::deterministic,
          "Only variants that give the same bits twice, chosen without measuring; resumed runs, too",
          {.kept = Kept::fixed});
    field("eager", &RunSettings::eager, "Run op by op instead of recording and replaying programs",
          {.kept = Kept::renewable, .kept_later = true});
    field("keep_subnormals", &RunSettings::keep_subnormals,
          "Compute on cpu with numbers below the smallest normal one, which is slow, instead of zeros",
          {.kept = Kept::fixed, .kept_later = true});
  }
};

/// With --no-bind, for subcommands that bind their threads by themselves: apply_run_settings() then does so
/// when there is a thread for every core the process may use. With fewer threads the scheduler does better:
/// several processes would bind theirs to the same cores.
struct BindingSettings : RunSettings {
  bool no_bind = false;

  static void describe(auto& field) {
    RunSettings::describe(field);
    field("no_bind", &BindingSettings::no_bind,
          "Leave threads to the scheduler; without it each is bound to a core when there is one for every "
          "core of "
          "the machine, until other processes want the cores too");
  }
};

/// Applies them to the process and returns the device. Throws ValueError for unknown names, DeviceError for
/// an absent device.
Device apply_run_settings(const RunSettings& settings);
Device apply_run_settings(const BindingSettings& settings);

}  // namespace treadle::cli
