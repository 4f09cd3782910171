/// The options of `treadle train`, and the recipes that fill them in.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "cli/settings_options.h"
#include "treadle/optim/schedule.h"

namespace treadle::cli {

struct TrainOptions {
  std::string model, data = "fashion-mnist", optimizer = "adam", schedule = "cosine", preset, out;
  std::string test = "each";
  int64_t epochs = 5, batch_size = 32, limit_batches = 0, max_steps = 0;
  double learning_rate = 1e-3, warm_up = Schedule::kWarmUp, validation = 0;
  uint64_t seed = 0;
  bool normalize = false, resume = false, overwrite = false, json = false, quiet = false;
  RunSettings settings;
};

void add_train_options(CLI::App& app, TrainOptions& options);

/// Sets what the preset says and the user did not give. Throws ValueError when the model has no such preset.
void apply_preset(const CLI::App& app, TrainOptions& options);

/// Throws ValueError for names and values that no data set or device could make right.
void check(const TrainOptions& options);

}  // namespace treadle::cli
