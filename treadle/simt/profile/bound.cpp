#include "treadle/simt/profile/bound.h"

#include <algorithm>
#include <cmath>

namespace treadle::simt {
namespace {

constexpr double kSectorBytes = 32, kSectorsOfLine = 4, kDivision = 8;

double instructions_of(const Arithmetic& a) {
  return double(std::max(a.additions, a.products)) + double(a.fused) + kDivision * double(a.divisions);
}

/// Passes over the memory of an SM, of up to 128 bytes each.
double passes_of(const LineCounters& total) {
  double passes = double(total.all_of(MemorySpace::shared).wavefronts);
  for (const AccessKind kind : {AccessKind::load, AccessKind::store}) {
    const AccessCounters& counters = total.of(MemorySpace::global, kind);
    passes += std::max(double(counters.requests), double(counters.sectors) / kSectorsOfLine);
  }
  return passes;
}

double cache_sectors_of(const LineCounters& total) {
  return double(total.of(MemorySpace::global, AccessKind::load).new_sectors) +
         double(total.of(MemorySpace::global, AccessKind::store).sectors) +
         double(total.of(MemorySpace::global, AccessKind::atomic).sectors);
}

}  // namespace

Bound bound_on(const Card& card, const KernelProfile& kernel, unsigned registers) {
  const KernelCounters& counters = kernel.launches;
  const LineCounters& total = kernel.total;
  Bound bound;
  const unsigned threads = counters.block[0] * counters.block[1] * counters.block[2];
  bound.occupancy = occupancy_on(
      card, {threads, static_cast<unsigned>(counters.static_shared_bytes + counters.dynamic_shared_bytes),
             registers});
  const double launches = double(std::max<uint64_t>(counters.launches, 1));
  const double blocks = std::max(1., double(counters.blocks) / launches);
  bound.balance = std::ceil(blocks / card.processors) * card.processors / blocks;

  const double clock = card.clock_ghz * 1e9;
  const auto add = [&](const char* part, double seconds) {
    if (seconds > 0) bound.parts.push_back({part, seconds / launches});
  };
  // Lanes that do not take part have their place in the units all the same.
  const double active = total.active_lanes(), idle = active > 0 ? 32 / active : 1;
  const auto add_units = [&](const char* part, double operations, double in_a_clock) {
    add(part, operations / (in_a_clock * card.processors * clock) * bound.balance);
  };
  const double bytes = kSectorBytes * double(counters.read_sectors + counters.written_sectors);
  add("memory", bytes / (card.memory_gbs * 1e9));
  add("L2 cache", kSectorBytes * cache_sectors_of(total) / (card.cache_bytes_per_clock * clock));
  add_units("shared memory and L1", passes_of(total), 1);
  add_units("f32 units", idle * instructions_of(total.single), card.singles);
  add_units("f64 units", idle * instructions_of(total.twice), card.twices);
  add_units("function units", idle * double(total.functions), card.functions);
  add("tensor cores", double(total.tensor_operations) / (card.tensor_tflops * 1e12) * bound.balance);
  std::stable_sort(bound.parts.begin(), bound.parts.end(),
                   [](const BoundOfPart& a, const BoundOfPart& b) { return a.seconds > b.seconds; });
  if (bytes > 0) bound.intensity = double(total.operations() + total.tensor_operations) / bytes;
  return bound;
}

}  // namespace treadle::simt
