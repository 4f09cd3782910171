/// `treadle bench op`: time of every variant of an op.
#pragma once

#include "cli/command.h"

namespace treadle::cli {

Action add_op_bench(CLI::App& app);

}  // namespace treadle::cli
