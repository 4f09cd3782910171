/// `treadle bench explain`: which variant runs each step of a program, and what was measured.
#pragma once

#include "cli/command.h"

namespace treadle::cli {

Action add_explain_bench(CLI::App& app);

}  // namespace treadle::cli
