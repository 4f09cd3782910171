/// config.toml of a run folder: the settings of the run, for people and scripts to read.
#pragma once

#include <string>

#include "cli/train_options.h"
#include "treadle/core/device.h"

namespace treadle::cli {

std::string config_text(const TrainOptions& options, Device device);

}  // namespace treadle::cli
