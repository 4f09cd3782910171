/// Runs a checked program and gathers what it reports.
#pragma once

#include <string>

#include "treadle/simt/check/report.h"
#include "treadle/simt/driver/process.h"

namespace treadle::simt::driver {

struct CheckedRun {
  RunReport report;      ///< with files and lines; equal findings of one place are one report
  ProcessEnd end;        ///< the program's
  bool complete = true;  ///< the program has written its report
};

/// Runs a program that was built checked; `process` is its command.
CheckedRun run_checked(const Process& process);

/// Reports of the same kind in the same kernel at the same lines become one, the first of them, with their
/// number; two places count as the same in either order. In order of files and lines.
std::vector<Report> grouped(std::vector<Report> reports);

}  // namespace treadle::simt::driver
