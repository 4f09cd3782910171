/// config.toml of a run folder: the settings of the run, for people and scripts to read.
#pragma once

#include <map>
#include <string>

#include "cli/train_options.h"
#include "treadle/core/device.h"

namespace treadle::cli {

std::string config_text(const TrainOptions& options, Device device);

/// Setting → value as on the command line, of a config.toml or a file like it. What config.toml says of the
/// run itself is left out. Throws FileError, and FormatError naming the line.
std::map<std::string, std::string> read_config(const std::string& file);

}  // namespace treadle::cli
