/// Reports that somebody has judged and does not want to see again.
#pragma once

#include <string>
#include <vector>

#include "treadle/simt/check/report.h"

namespace treadle::simt::driver {

/// One line of a file of suppressions: KIND KERNEL FILE:LINE  # reason
///
/// `*` in the kernel's name stands for any letters. The file is the end of a path, whole names of it; as the
/// line `*` means any, and so it does as the kind.
struct Suppression {
  std::string kind, kernel, file;
  unsigned line = 0;  ///< 0: any
  std::string reason;
  std::string place;  ///< "suppressions.txt:3"
  uint64_t used = 0;  ///< reports that it has kept away

  bool fits(const Report& report) const;
};

/// Reads a file. Lines that are empty or begin with # say nothing. Throws FileError, and ValueError that
/// begins with FILE:LINE: for a line that is none, or that gives no reason.
std::vector<Suppression> read_suppressions(const std::string& path);

/// Takes away the reports that one of them fits, by either of a report's places, and counts them.
void suppress(std::vector<Report>& reports, std::vector<Suppression>& suppressions);

}  // namespace treadle::simt::driver
