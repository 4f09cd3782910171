/// What is shown of a profiled run, in text and on a page.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "treadle/simt/driver/profile.h"
#include "treadle/simt/driver/registers.h"
#include "treadle/simt/profile/bound.h"

namespace treadle::cli {

/// A run, and the card that it is judged for.
struct ProfileView {
  const simt::driver::ProfiledRun& run;
  std::string program;
  const simt::Card& card;
  simt::driver::Registers registers;

  unsigned registers_of(const simt::KernelProfile& kernel) const {
    return registers.of(kernel.launches.name);
  }
  simt::Bound bound_of(const simt::KernelProfile& kernel) const {
    return bound_on(card, kernel, registers_of(kernel));
  }
};

/// The lines of source files, each file read once.
class SourceLines {
 public:
  /// As it stands there; empty beyond the end and for files that cannot be read.
  std::string line(const std::string& file, unsigned number);
  unsigned count(const std::string& file);

 private:
  const std::vector<std::string>& lines_of(const std::string& file);

  std::map<std::string, std::vector<std::string>> files_;
};

/// "3.2 µs"
std::string short_time(double seconds);
/// "(16, 16, 1)"
std::string sides_text(const simt::Coordinates& sides);
/// "2 launches, grid (4, 1, 1), block (256, 1, 1), 4,096 bytes of shared memory"
std::string launches_text(const simt::KernelCounters& kernel);
/// "64 of 64 warps of an SM, limited by threads; registers are unknown"
std::string occupancy_text(const simt::Bound& bound, unsigned registers);
/// "memory (3.2 µs a launch)": what a kernel waits for at best, and how long.
std::string bottleneck_text(const simt::Bound& bound);

}  // namespace treadle::cli
