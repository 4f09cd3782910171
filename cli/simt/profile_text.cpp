#include "cli/simt/profile_text.h"

#include <fmt/core.h>

#include "cli/format.h"

namespace treadle::cli {
namespace {

using simt::AccessCounters;
using simt::MemorySpace;

std::string shown(uint64_t value) { return value == 0 ? "" : with_commas(int64_t(value)); }

/// "512 (128)": what was, and in brackets the ideal where it is another.
std::string with_ideal(uint64_t value, uint64_t ideal) {
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
          with_ideal(global.sectors, global.ideal_sectors),
          shown(shared.requests),
          with_ideal(shared.wavefronts, shared.ideal_wavefronts),
          shown(counters.atomics()),
          shown(counters.operations() + counters.tensor_operations),
          lanes_of(counters),
          shown(counters.barriers),
          source};
}

std::string without_indentation(const std::string& line) {
  return line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
}

std::string bound_text(const ProfileView& view, const simt::KernelProfile& kernel) {
  const simt::Bound bound = view.bound_of(kernel);
  std::string text = fmt::format("on {}: at best bound by {}", view.card.name, bottleneck_text(bound));
  for (size_t i = 1; i < bound.parts.size(); ++i)
    text += fmt::format("{} {} {}", i == 1 ? "; then" : ",", bound.parts[i].part,
                        short_time(bound.parts[i].seconds));
  text += "\n";
  if (bound.balance > 1.05)
    text += fmt::format(
        "the busiest SM has {:.3g} times the average's blocks: {} a launch for {} SMs\n", bound.balance,
        with_commas(int64_t(kernel.launches.blocks / kernel.launches.launches)), view.card.processors);
  return text + fmt::format("{:.3g} operations for each byte of memory; occupancy: {}\n", bound.intensity,
                            occupancy_text(bound, view.registers_of(kernel)));
}

std::string kernel_text(const ProfileView& view, const simt::KernelProfile& kernel, SourceLines& sources) {
  std::vector<std::vector<std::string>> rows{{"line", "global", "sectors (ideal)", "shared",
                                              "wavefronts (ideal)", "atomics", "flops", "lanes", "barriers",
                                              ""}};
  std::string file = kernel.lines.empty() ? "" : kernel.lines[0].file;
  const bool one_file = kernel.lines.empty() || file == kernel.lines.back().file;
  for (const simt::Line& line : kernel.lines) {
    const std::string place =
        one_file ? std::to_string(line.line) : fmt::format("{}:{}", line.file, line.line);
    rows.push_back(row_of(place, line.counters, without_indentation(sources.line(line.file, line.line))));
  }
  rows.push_back(row_of("all", kernel.total, one_file ? file : ""));
  return fmt::format("kernel {}: {}\n{}{}", kernel.launches.name, launches_text(kernel.launches),
                     table(rows, {1, 2, 3, 4, 5, 6, 7, 8}), bound_text(view, kernel));
}

}  // namespace

std::string text_of(const ProfileView& view) {
  SourceLines sources;
  std::string text;
  for (const simt::KernelProfile& kernel : view.run.kernels)
    text += kernel_text(view, kernel, sources) + "\n";
  return text + fmt::format("{} launch{}\n", view.run.launches, view.run.launches == 1 ? "" : "es");
}

}  // namespace treadle::cli
