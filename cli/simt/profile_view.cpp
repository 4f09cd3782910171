#include "cli/simt/profile_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>

#include "cli/format.h"

namespace treadle::cli {

const std::vector<std::string>& SourceLines::lines_of(const std::string& file) {
  const auto [found, is_new] = files_.try_emplace(file);
  if (is_new) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
      line.erase(line.find_last_not_of(" \t\r") + 1);
      found->second.push_back(line);
    }
  }
  return found->second;
}

std::string SourceLines::line(const std::string& file, unsigned number) {
  const std::vector<std::string>& lines = lines_of(file);
  return number == 0 || number > lines.size() ? "" : lines[number - 1];
}

unsigned SourceLines::count(const std::string& file) { return static_cast<unsigned>(lines_of(file).size()); }

std::string short_time(double seconds) {
  const double ns = seconds * 1e9;
  return ns < 1e3   ? fmt::format("{:.0f} ns", ns)
         : ns < 1e6 ? fmt::format("{:.3g} µs", ns / 1e3)
                    : fmt::format("{:.3g} ms", ns / 1e6);
}

std::string sides_text(const simt::Coordinates& sides) {
  return fmt::format("({}, {}, {})", sides[0], sides[1], sides[2]);
}

std::string launches_text(const simt::KernelCounters& kernel) {
  const uint64_t blocks = uint64_t{kernel.grid[0]} * kernel.grid[1] * kernel.grid[2];
  const char* which = kernel.blocks == blocks * kernel.launches ? "" : "largest ";
  std::string text =
      fmt::format("{} launch{}, {}grid {}, block {}", kernel.launches, kernel.launches == 1 ? "" : "es",
                  which, sides_text(kernel.grid), sides_text(kernel.block));
  if (kernel.static_shared_bytes > 0)
    text += fmt::format(", {} bytes of shared memory", with_commas(int64_t(kernel.static_shared_bytes)));
  if (kernel.dynamic_shared_bytes > 0)
    text +=
        fmt::format(", {} bytes of dynamic shared memory", with_commas(int64_t(kernel.dynamic_shared_bytes)));
  return text;
}

std::string occupancy_text(const simt::Bound& bound, unsigned registers) {
  const simt::Occupancy& occupancy = bound.occupancy;
  const std::string known = registers > 0 ? fmt::format("{} registers", registers) : "registers are unknown";
  if (occupancy.blocks == 0) return fmt::format("a block does not fit: {}; {}", occupancy.limit, known);
  return fmt::format("{} of {} warps of an SM, limited by {}; {}", occupancy.warps, occupancy.most_warps,
                     occupancy.limit, known);
}

std::string bottleneck_text(const simt::Bound& bound) {
  return bound.parts.empty()
             ? "nothing that is counted"
             : fmt::format("{} ({} a launch)", bound.parts[0].part, short_time(bound.seconds()));
}

}  // namespace treadle::cli
