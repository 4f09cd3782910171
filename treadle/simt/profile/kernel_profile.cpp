#include "treadle/simt/profile/kernel_profile.h"

#include <algorithm>

namespace treadle::simt {

void Arithmetic::add(const Arithmetic& other, uint64_t times) {
  additions += times * other.additions;
  products += times * other.products;
  fused += times * other.fused;
  divisions += times * other.divisions;
}

AccessCounters LineCounters::all_of(MemorySpace space) const {
  AccessCounters sum;
  for (const AccessCounters& counters : memory[size_t(space)]) sum.add(counters);
  return sum;
}

uint64_t LineCounters::atomics() const {
  return of(MemorySpace::global, AccessKind::atomic).requests +
         of(MemorySpace::shared, AccessKind::atomic).requests;
}

double LineCounters::active_lanes() const {
  return warp_instructions == 0 ? 0 : double(lane_instructions) / double(warp_instructions);
}

void LineCounters::add(const LineCounters& other) {
  for (size_t space = 0; space < memory.size(); ++space)
    for (size_t kind = 0; kind < memory[space].size(); ++kind)
      memory[space][kind].add(other.memory[space][kind]);
  single.add(other.single);
  twice.add(other.twice);
  functions += other.functions;
  tensor_operations += other.tensor_operations;
  barriers += other.barriers;
  collectives += other.collectives;
  warp_instructions += other.warp_instructions;
  lane_instructions += other.lane_instructions;
}

}  // namespace treadle::simt
