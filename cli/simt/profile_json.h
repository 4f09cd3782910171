/// What a profiled run has counted, for programs.
#pragma once

#include <string>

#include "cli/json.h"
#include "cli/simt/profile_view.h"

namespace treadle::cli {

Json json_of(const ProfileView& view);

}  // namespace treadle::cli
