/// What `treadle train --find-lr` prints and writes.
#pragma once

#include <filesystem>

#include "cli/json.h"
#include "treadle/train/learning_rate_finder.h"

namespace treadle::cli {

/// learning_rate.csv and, where there are points, learning_rate.svg, in the folder, which is made.
void write_curve(const LearningRateCurve& curve, const std::filesystem::path& folder);

/// One or two sentences.
std::string suggestion_text(const LearningRateCurve& curve);

Json json_of(const LearningRateCurve& curve);

}  // namespace treadle::cli
