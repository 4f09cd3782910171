/// What a profiled run has counted, for programs.
#pragma once

#include <string>

#include "cli/json.h"
#include "treadle/simt/driver/profile.h"

namespace treadle::cli {

Json json_of(const simt::driver::ProfiledRun& run, const std::string& program);

}  // namespace treadle::cli
