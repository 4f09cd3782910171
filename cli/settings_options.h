/// The options that choose device, engine, variants and threads, shared by the subcommands that run a model.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "treadle/core/device.h"

namespace treadle::cli {

struct RunSettings {
  std::string device = "auto", engine = "any";
  std::vector<std::string> variants;
  int threads = 0;
  bool deterministic = false, eager = false, keep_subnormals = false;
  bool bind = false;
};

void add_run_settings(CLI::App& app, RunSettings& settings);

/// --no-bind, for subcommands that bind their threads by themselves: apply_run_settings() then does so when
/// there is a thread for every core the process may use. With fewer threads the scheduler does better:
/// several processes would bind theirs to the same cores.
void add_binding(CLI::App& app, RunSettings& settings);

/// Applies them to the process and returns the device. Throws ValueError for unknown names, DeviceError for
/// an absent device.
Device apply_run_settings(const RunSettings& settings);

}  // namespace treadle::cli
