/// What checkpoints remember of `treadle train`'s options, so that --resume goes on with them.
#pragma once

#include <map>
#include <string>

#include "cli/train_options.h"
#include "treadle/train/checkpoint.h"

namespace treadle::cli {

/// The options that a run keeps, as on the command line → value.
std::map<std::string, std::string> remembered(const TrainOptions& options);

/// Takes the options of the run that is resumed. Those that are renewable may be given anew; another option
/// that was given must not differ: ValueError. Throws FormatError for options that are missing or no values.
void continue_with(const IsGiven& is_given, const Checkpoint& from, TrainOptions& options);

}  // namespace treadle::cli
