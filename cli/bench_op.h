/// `treadle bench op`: time of every variant of an op.
#pragma once

#include <string>

#include "cli/settings_options.h"

namespace treadle::cli {

struct OpBench {
  std::string op, dtype = "f32";
  double seconds = 0.3;
  RunSettings settings;
  bool json = false;
};

int run_op_bench(const OpBench& bench);

}  // namespace treadle::cli
