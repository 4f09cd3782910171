#include "treadle/simt/profile/occupancy.h"

#include <algorithm>

namespace treadle::simt {
namespace {

constexpr unsigned kLanes = 32, kQuarters = 4, kRegisterUnit = 256, kSharedUnit = 128;

unsigned rounded_up(unsigned value, unsigned unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

Occupancy occupancy_on(const Card& card, const BlockNeeds& needs) {
  Occupancy result;
  result.most_warps = card.threads / kLanes;
  const unsigned warps = std::max(1u, rounded_up(needs.threads, kLanes) / kLanes);
  result.blocks = result.most_warps / warps;
  result.limit = "threads";
  const auto limit = [&](unsigned blocks, const char* by) {
    if (blocks >= result.blocks) return;
    result.blocks = blocks;
    result.limit = by;
  };
  limit(card.blocks, "blocks");
  if (const unsigned bytes = rounded_up(needs.shared_bytes + card.shared_bytes_reserved, kSharedUnit);
      needs.shared_bytes > 0)
    limit(card.shared_bytes / bytes, "shared memory");
  if (needs.registers > 0) {
    const unsigned of_warp = rounded_up(needs.registers * kLanes, kRegisterUnit);
    limit(card.registers / kQuarters / of_warp * kQuarters / warps, "registers");
  }
  result.warps = result.blocks * warps;
  return result;
}

}  // namespace treadle::simt
