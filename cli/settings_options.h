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
  bool deterministic = false, eager = false;
};

void add_run_settings(CLI::App& app, RunSettings& settings);

/// Applies them to the process and returns the device. Throws ValueError for unknown names, DeviceError for
/// an absent device.
Device apply_run_settings(const RunSettings& settings);

}  // namespace treadle::cli
