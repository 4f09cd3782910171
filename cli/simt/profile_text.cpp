#include "cli/simt/profile_text.h"

#include <fmt/core.h>

#include <fstream>
#include <map>

#include "cli/format.h"

namespace treadle::cli {
namespace {

using simt::AccessCounters;
using simt::MemorySpace;

/// The lines of source files, each read once.
class Sources {
 public:
  std::string line(const std::string& file, unsigned number) {
    const auto [found, is_new] = files_.try_emplace(file);
    if (is_new) {
      std::ifstream stream(file);
      for (std::string line; std::getline(stream, line);) found->second.push_back(line);
    }
    if (number == 0 || number > found->second.size()) return "";
    const std::string& text = found->second[number - 1];
    const size_t begin = text.find_first_not_of(" \t");
    return begin == std::string::npos ? "" : text.substr(begin);
  }

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

std::string shown(uint64_t value) { return value == 0 ? "" : with_commas(int64_t(value)); }

/// "512 (128)": what was, and in brackets the ideal where it is another.
std::string against(uint64_t value, uint64_t ideal) {
  if (value == 0) return "";
  return value == ideal ? shown(value) : fmt::format("{} ({})", shown(value), with_commas(int64_t(ideal)));
}

std::string lanes_of(const simt::LineCounters& counters) {
  const double lanes = counters.active_lanes();
  return lanes == 0 ? "" : fmt::format("{:.1f}", lanes);
}

std::vector<std::string> row_of(const std::string& name, const simt::LineCounters& counters,
                                const std::string& source) {
  const AccessCounters global = counters.all_of(MemorySpace::global),
                       shared = counters.all_of(MemorySpace::shared);
  return {name,
          shown(global.requests),
          against(global.sectors, global.ideal_sectors),
          shown(shared.requests),
          against(shared.wavefronts, shared.ideal_wavefronts),
          shown(counters.atomics()),
          shown(counters.operations() + counters.tensor_operations),
          lanes_of(counters),
          shown(counters.barriers),
          source};
}

std::string sides(const simt::Coordinates& c) { return fmt::format("({}, {}, {})", c[0], c[1], c[2]); }

std::string heading(const simt::KernelCounters& kernel) {
  std::string text = fmt::format("kernel {}: {} launch{}, grid {}, block {}", kernel.name, kernel.launches,
                                 kernel.launches == 1 ? "" : "es", sides(kernel.grid), sides(kernel.block));
  if (kernel.static_shared_bytes > 0)
    text += fmt::format(", {} bytes of shared memory", with_commas(int64_t(kernel.static_shared_bytes)));
  if (kernel.dynamic_shared_bytes > 0)
    text +=
        fmt::format(", {} bytes of dynamic shared memory", with_commas(int64_t(kernel.dynamic_shared_bytes)));
  return text + "\n";
}

std::string kernel_text(const simt::KernelProfile& kernel, Sources& sources) {
  std::vector<std::vector<std::string>> rows{{"line", "global", "sectors (ideal)", "shared",
                                              "wavefronts (ideal)", "atomics", "flops", "lanes", "barriers",
                                              ""}};
  std::string file;
  for (const simt::Line& line : kernel.lines) {
    if (line.file != file) {
      file = line.file;
      rows.push_back({file, "", "", "", "", "", "", "", "", ""});
    }
    rows.push_back(row_of(std::to_string(line.line), line.counters, sources.line(line.file, line.line)));
  }
  rows.push_back(row_of("all", kernel.total, ""));
  // The name of the file stands in a row of its own, however long.
  return heading(kernel.launches) + table(rows, {1, 2, 3, 4, 5, 6, 7, 8});
}

}  // namespace

std::string text_of(const simt::driver::ProfiledRun& run) {
  Sources sources;
  std::string text;
  for (const simt::KernelProfile& kernel : run.kernels) text += kernel_text(kernel, sources) + "\n";
  return text + fmt::format("{} launch(es)\n", run.launches);
}

}  // namespace treadle::cli
