/// What checkpoints remember of `treadle train`'s command line, so that --resume goes on with it.
#pragma once

#include <map>
#include <string>

#include "cli/train_options.h"
#include "treadle/train/checkpoint.h"

namespace treadle::cli {

/// Option → value.
std::map<std::string, std::string> remembered(const TrainOptions& options);

/// Takes the settings of the run that is resumed. Only --epochs, --device, --threads, --data and --test may
/// be given anew; another option that was given must not differ: ValueError. Throws FormatError for settings
/// that are missing or no values.
void continue_with(const CLI::App& app, const Checkpoint& from, TrainOptions& options);

}  // namespace treadle::cli
