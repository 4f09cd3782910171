/// What a profiled run has counted, for people.
#pragma once

#include <string>

#include "cli/simt/profile_view.h"

namespace treadle::cli {

/// A table for each kernel: its lines with their counters and their source; below it what it waits for on the
/// card.
std::string text_of(const ProfileView& view);

}  // namespace treadle::cli
