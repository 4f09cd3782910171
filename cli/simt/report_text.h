/// What a checked run has found, for people.
#pragma once

#include <string>

#include "treadle/simt/check/report.h"

namespace treadle::cli {

/// One report: its kind and message, both places with their source lines, who was there, how often. `color`:
/// with a terminal's colours.
std::string text_of(const simt::Report& report, bool color);

/// "2 reports: 1 race, 1 leak"
std::string count_text(const std::vector<simt::Report>& reports);

}  // namespace treadle::cli
