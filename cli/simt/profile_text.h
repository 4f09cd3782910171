/// What a profiled run has counted, for people.
#pragma once

#include <string>

#include "treadle/simt/driver/profile.h"

namespace treadle::cli {

/// A table for each kernel: its lines with their counters and their source.
std::string text_of(const simt::driver::ProfiledRun& run);

}  // namespace treadle::cli
