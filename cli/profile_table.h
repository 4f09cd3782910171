/// The table of a profile: what each op of a training step takes.
#pragma once

#include <string>
#include <vector>

#include "cli/bench/ceilings.h"
#include "treadle/train/callbacks/profiler.h"

namespace treadle::cli {

/// A row for each variant of an op, the longest first, and one of what is left of the steps. Counts, times,
/// operations and bytes are those of a step in the mean. With `ceilings`, of the machine that ran it: the
/// share of the least time that its operations or its bytes take there, whichever is more.
std::string profile_table(const std::vector<ProfiledStep>& steps, const std::vector<ProfiledRun>& runs,
                          const ThreadCeilings* ceilings);

}  // namespace treadle::cli
