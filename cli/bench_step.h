/// `treadle bench step`: images per second of whole steps.
#pragma once

#include <string>

#include "cli/settings_options.h"

namespace treadle::cli {

struct StepBench {
  std::string model = "fashion_cnn", mode = "train", optimizer = "sgd", data = "fashion-mnist";
  int64_t batch = 32, steps = 0;
  RunSettings settings;
  bool json = false;
};

int run_step_bench(const StepBench& bench);

}  // namespace treadle::cli
