#include "cli/lab/counters.h"

#include <fmt/core.h>

#include "cli/format.h"
#include "treadle/simt/driver/build.h"
#include "treadle/simt/driver/profile.h"
#include "treadle/simt/profile/bound.h"

namespace treadle::cli {
namespace {

using simt::MemorySpace;

KernelCounts counts_of_kernel(const simt::KernelProfile& profile, const simt::Card& card) {
  const simt::AccessCounters global = profile.total.all_of(MemorySpace::global),
                             shared = profile.total.all_of(MemorySpace::shared);
  const simt::Bound bound = bound_on(card, profile, 0);
  KernelCounts counts;
  counts.kernel = profile.launches.name;
  counts.launches = profile.launches.launches;
  counts.requests = global.requests;
  counts.sectors = global.sectors;
  counts.ideal_sectors = global.ideal_sectors;
  counts.wavefronts = shared.wavefronts;
  counts.ideal_wavefronts = shared.ideal_wavefronts;
  counts.operations = profile.total.operations() + profile.total.tensor_operations;
  counts.lanes = profile.total.active_lanes();
  counts.least_seconds = bound.seconds();
  counts.bound_by = bound.parts.empty() ? "" : bound.parts[0].part;
  return counts;
}

std::string number(uint64_t value) { return value == 0 ? "" : with_commas(int64_t(value)); }

std::string with_ideal(uint64_t value, uint64_t ideal) {
  return number(value) + (value == ideal ? "" : " (" + with_commas(int64_t(ideal)) + ")");
}

}  // namespace

std::vector<KernelCounts> counts_of(const std::filesystem::path& source, simt::driver::Process process,
                                    const simt::Card& card) {
  const simt::driver::TemporaryFolder folder;
  simt::driver::BuildOptions options;
  options.sources = {source.string()};
  options.program = process.words[0] = folder / "program";
  options.profiled = true;
  build(options);
  process.output = folder / "output";
  std::vector<KernelCounts> counts;
  for (const simt::KernelProfile& kernel : run_profiled(process).kernels)
    counts.push_back(counts_of_kernel(kernel, card));
  return counts;
}

std::string table_of(const std::vector<KernelCounts>& counts) {
  std::vector<std::vector<std::string>> rows{{"kernel", "launches", "requests", "sectors (ideal)",
                                              "wavefronts (ideal)", "operations", "lanes", "at best"}};
  for (const KernelCounts& one : counts)
    rows.push_back({one.kernel, number(one.launches), number(one.requests),
                    with_ideal(one.sectors, one.ideal_sectors),
                    with_ideal(one.wavefronts, one.ideal_wavefronts), number(one.operations),
                    fmt::format("{:.1f}", one.lanes),
                    fmt::format("{:.0f} ns by {}", 1e9 * one.least_seconds, one.bound_by)});
  return table(rows, {1, 2, 3, 4, 5, 6});
}

Json json_of(const KernelCounts& counts) {
  return {{"kernel", counts.kernel},
          {"launches", counts.launches},
          {"requests", counts.requests},
          {"sectors", counts.sectors},
          {"ideal_sectors", counts.ideal_sectors},
          {"wavefronts", counts.wavefronts},
          {"ideal_wavefronts", counts.ideal_wavefronts},
          {"operations", counts.operations},
          {"active_lanes", counts.lanes},
          {"least_seconds", counts.least_seconds},
          {"bound_by", counts.bound_by}};
}

}  // namespace treadle::cli
