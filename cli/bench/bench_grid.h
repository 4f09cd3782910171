/// `treadle bench grid`: convolutions of many shapes, against oneDNN alone.
#pragma once

#include "cli/command.h"

namespace treadle::cli {

Action add_grid_bench(CLI::App& app);

}  // namespace treadle::cli
