/// Settings that are given other than by options of their own: a file (--config) and --set NAME=VALUE.
#pragma once

#include "cli/command.h"
#include "cli/train_options.h"

namespace treadle::cli {

/// Sets them in `options`: --set over the file, an option of its own over both. Returns who knows what was
/// given in any of these ways. Throws ValueError for an unknown name, with the nearest, and for values that
/// the option does not take; FileError, FormatError for the file.
IsGiven apply_given_settings(const IsGiven& is_given, TrainOptions& options);

}  // namespace treadle::cli
