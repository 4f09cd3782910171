/// `treadle bench roofline`: the machine's ceilings, and how far each op of a step is from them.
#pragma once

#include "cli/command.h"

namespace treadle::cli {

Action add_roofline_bench(CLI::App& app);

}  // namespace treadle::cli
