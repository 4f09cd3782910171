#include "treadle/simt/profile/runtime/kernel_counts.h"

#include <bit>
#include <utility>

#include "treadle/simt/check/runtime/shared_variables.h"

namespace treadle::profiler {
namespace {

using simt::AccessKind;
using simt::MemorySpace;

AccessKind kind_of(EventKind kind) {
  return kind == EventKind::load    ? AccessKind::load
         : kind == EventKind::store ? AccessKind::store
                                    : AccessKind::atomic;
}

/// Costs of a request do not change when all its addresses move by a multiple of so much.
uint64_t phase_of(const simt::AccessCounters& counters, uint64_t address) {
  return counters.space == MemorySpace::shared ? address % 4 : address % kSectorBytes;
}

}  // namespace

void KernelCounts::run_block(uint32_t place, uint32_t lanes) {
  uint32_t& index = code_index_.of(place);
  if (index == 0) {
    code_.push_back({place, 0, 0});
    index = static_cast<uint32_t>(code_.size());
  }
  Code& code = code_[index - 1];
  ++code.runs;
  code.lanes += static_cast<unsigned>(std::popcount(lanes));
}

/// An instruction that is run for shared and for global memory counts as the first that it was.
KernelCounts::Access& KernelCounts::access_at(uint32_t place, EventKind kind, const Request& request) {
  uint32_t& index = access_index_.of(number_of(place, kind_of(kind)));
  if (index == 0) {
    Access& access = accesses_.emplace_back();
    access.place = place;
    access.counters.kind = kind_of(kind);
    const uint64_t address = request.address[static_cast<unsigned>(std::countr_zero(request.mask))];
    const bool shared = shared_.holds(address);
    access.ignored = shared && checker::SharedVariables::of_program().is_guard(address - shared_.begin);
    access.counters.space = shared ? MemorySpace::shared : MemorySpace::global;
    index = static_cast<uint32_t>(accesses_.size());
  }
  return accesses_[index - 1];
}

void KernelCounts::measure(Access& access, const Request& request) {
  const uint64_t first = request.address[static_cast<unsigned>(std::countr_zero(request.mask))];
  if (access.counters.space == MemorySpace::shared) {
    const WavefrontCost cost = wavefronts_of(request);
    access.wavefronts = cost.count;
    access.ideal_wavefronts = cost.ideal;
  } else {
    SectorCost cost;
    find_sectors(request, cost);
    access.sectors = cost.count;
    access.ideal_sectors = cost.ideal;
    for (unsigned i = 0; i < cost.count; ++i)
      access.sector[i] = static_cast<int32_t>(static_cast<int64_t>(cost.sectors[i] - first / kSectorBytes));
  }
  access.rounds = access.counters.kind == AccessKind::atomic ? rounds_of(request) : 0;
}

void KernelCounts::access(uint32_t place, EventKind kind, const Request& request) {
  Access& access = access_at(place, kind, request);
  if (access.ignored) return;
  const uint64_t first = request.address[static_cast<unsigned>(std::countr_zero(request.mask))];
  const uint64_t phase = phase_of(access.counters, first) | uint64_t{request.bytes} << 32;
  bool same = request.mask == access.mask && phase == access.phase;
  std::array<uint64_t, kLanes> distance;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    distance[lane] = (request.mask >> lane & 1u) != 0 ? request.address[lane] - first : 0;
  same = same && distance == access.distance;
  if (!same) {
    access.mask = request.mask;
    access.phase = phase;
    access.distance = distance;
    measure(access, request);
  }
  simt::AccessCounters& counters = access.counters;
  const auto lanes = static_cast<unsigned>(std::popcount(request.mask));
  ++counters.requests;
  counters.lanes += lanes;
  counters.bytes += uint64_t{lanes} * request.bytes;
  counters.rounds += access.rounds;
  if (counters.space == MemorySpace::shared) {
    counters.wavefronts += access.wavefronts;
    counters.ideal_wavefronts += access.ideal_wavefronts;
    access.shared_begin = std::min<uintptr_t>(access.shared_begin, first - shared_.begin);
    access.shared_end = std::max<uintptr_t>(access.shared_end, first - shared_.begin + request.bytes);
    return;
  }
  counters.sectors += access.sectors;
  counters.ideal_sectors += access.ideal_sectors;
  for (unsigned i = 0; i < access.sectors; ++i) {
    const uint64_t sector = first / kSectorBytes + static_cast<uint64_t>(int64_t{access.sector[i]});
    if (counters.kind != AccessKind::store) counters.new_sectors += touched.read(sector);
    if (counters.kind != AccessKind::load) touched.write(sector);
  }
}

std::vector<KernelCounts::Access> KernelCounts::take_accesses() {
  for (const Access& access : accesses_) access_index_.of(number_of(access.place, access.counters.kind)) = 0;
  return std::exchange(accesses_, {});
}

std::vector<KernelCounts::Code> KernelCounts::take_code() {
  for (const Code& code : code_) code_index_.of(code.place) = 0;
  return std::exchange(code_, {});
}

}  // namespace treadle::profiler
