/// Runs a profiled program and gathers what it has counted.
#pragma once

#include <string>
#include <vector>

#include "treadle/simt/driver/process.h"
#include "treadle/simt/profile/kernel_profile.h"

namespace treadle::simt::driver {

struct ProfiledRun {
  uint64_t launches = 0;
  double seconds = 0;
  std::vector<KernelProfile> kernels;  ///< in the order of their first launches
  ProcessEnd end;                      ///< the program's
  bool complete = true;                ///< the program has written its report
};

/// Runs a program that was built profiled; `process` is its command.
ProfiledRun run_profiled(const Process& process);

}  // namespace treadle::simt::driver
