#include "treadle/simt/profile/runtime/totals.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "treadle/simt/check/runtime/shared_variables.h"
#include "treadle/simt/executor_calls.h"
#include "treadle/simt/profile/runtime/block.h"
#include "treadle/simt/toolkit/dynamic_shared.h"

namespace treadle::profiler {
namespace {

using Key = std::tuple<std::string, simt::Coordinates, size_t>;
/// A place in the program, by its number (block.h) or by the data that tell it.
using Number = uint64_t;

/// The counters of one kernel, by place.
struct Kernel {
  size_t order = 0;
  simt::KernelCounters counters;
  std::map<std::pair<Number, simt::AccessKind>, simt::AccessCounters> accesses;
  std::map<Number, simt::BlockSite> code;
  decltype(KernelCounts::meetings) meetings;
  std::set<size_t> shared_variables;  ///< offsets of those that were used
};

struct State {
  std::mutex mutex;
  Launch launch;
  std::map<Key, Kernel> kernels;
  uint64_t launches = 0;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};
State& state() {
  static auto* state = new State;
  return *state;
}

simt::Place place_of(Number number) {
  const uintptr_t address = program_base + number;
  simt::Place place;
  if (checker::is_code(address)) {
    place.address = number - 1;  // the call, not what follows it
  } else {
    const auto site = std::bit_cast<checked::Site>(address);
    place.file = site.file_name();
    place.line = site.line();
  }
  return place;
}

void note_shared_variables(Kernel& kernel, const KernelCounts::Access& access) {
  if (access.shared_begin >= access.shared_end) return;
  const checker::SharedVariables& variables = checker::SharedVariables::of_program();
  const size_t dynamic = reinterpret_cast<uintptr_t>(treadle_dynamic_shared) - variables.begin_here();
  for (const checker::SharedVariable& variable : variables.variables())
    if (variable.offset < access.shared_end && variable.offset + variable.bytes > access.shared_begin &&
        variable.offset < dynamic && kernel.shared_variables.insert(variable.offset).second)
      kernel.counters.static_shared_bytes += variable.bytes;
}

void take(Kernel& kernel, KernelCounts& counts) {
  for (const KernelCounts::Access& access : counts.take_accesses()) {
    if (access.ignored) continue;
    simt::AccessCounters& sum = kernel.accesses[{access.place, access.counters.kind}];
    sum.kind = access.counters.kind;
    sum.space = access.counters.space;
    sum.add(access.counters);
    note_shared_variables(kernel, access);
  }
  for (const KernelCounts::Code& code : counts.take_code()) {
    simt::BlockSite& sum = kernel.code[code.place];
    sum.address = code.place;
    sum.runs += code.runs;
    sum.lanes += code.lanes;
  }
  for (const auto& [where, warps] : std::exchange(counts.meetings, {})) kernel.meetings[where] += warps;
  kernel.counters.blocks += std::exchange(counts.blocks, 0);
  kernel.counters.warps += std::exchange(counts.warps, 0);
}

/// Sectors that any of the blocks has touched.
void count_touched(simt::KernelCounters& counters) {
  struct Bits {
    std::array<uint64_t, 32> read{}, written{};
  };
  std::map<uint64_t, Bits> pages;
  for (Block* block : all_blocks()) {
    for (const auto& [number, page] : block->counts.touched.pages())
      for (size_t i = 0; i < page->read.size(); ++i) {
        pages[number].read[i] |= page->read[i];
        pages[number].written[i] |= page->written[i];
      }
    block->counts.touched.begin_launch();
  }
  for (const auto& [number, bits] : pages)
    for (size_t i = 0; i < bits.read.size(); ++i) {
      counters.read_sectors += static_cast<unsigned>(std::popcount(bits.read[i]));
      counters.written_sectors += static_cast<unsigned>(std::popcount(bits.written[i]));
    }
}

uint64_t size_of(const simt::Coordinates& grid) { return uint64_t{grid[0]} * grid[1] * grid[2]; }

simt::KernelCounters result_of(const Kernel& kernel) {
  simt::KernelCounters result = kernel.counters;
  for (const auto& [where, counters] : kernel.accesses)
    result.accesses.push_back({place_of(where.first), counters});
  for (const auto& [number, code] : kernel.code) result.code.push_back(code);
  for (const auto& [where, warps] : kernel.meetings) {
    const auto [number, kind, function] = where;
    result.meetings.push_back({place_of(number), kind, function, warps});
  }
  return result;
}

}  // namespace

void begin_launch(Launch launch) {
  const std::lock_guard lock(state().mutex);
  ++state().launches;
  state().launch = std::move(launch);
}

const Launch& current_launch() { return state().launch; }

void end_launch() {
  const std::lock_guard lock(state().mutex);
  const Launch& launch = state().launch;
  const auto [found, is_new] =
      state().kernels.try_emplace({launch.kernel, launch.block, launch.dynamic_shared_bytes});
  Kernel& kernel = found->second;
  if (is_new) {
    kernel.order = state().kernels.size();
    kernel.counters.name = launch.kernel;
    kernel.counters.block = launch.block;
    kernel.counters.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  }
  ++kernel.counters.launches;
  if (size_of(launch.grid) >= size_of(kernel.counters.grid)) kernel.counters.grid = launch.grid;
  for (Block* block : all_blocks()) take(kernel, block->counts);
  count_touched(kernel.counters);
}

simt::ProfileReport report_so_far() {
  const std::lock_guard lock(state().mutex);
  simt::ProfileReport report;
  report.launches = state().launches;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - state().start;
  report.seconds = seconds.count();
  std::vector<const Kernel*> kernels;
  for (const auto& [key, kernel] : state().kernels) kernels.push_back(&kernel);
  std::sort(kernels.begin(), kernels.end(),
            [](const Kernel* a, const Kernel* b) { return a->order < b->order; });
  for (const Kernel* kernel : kernels) report.kernels.push_back(result_of(*kernel));
  return report;
}

}  // namespace treadle::profiler
