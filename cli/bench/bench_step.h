/// `treadle bench step`: images per second of whole steps.
#pragma once

#include "cli/command.h"

namespace treadle::cli {

Action add_step_bench(CLI::App& app);

}  // namespace treadle::cli
