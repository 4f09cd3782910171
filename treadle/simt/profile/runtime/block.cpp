#include "treadle/simt/profile/runtime/block.h"

#include <algorithm>
#include <mutex>

#include "treadle/simt/check/runtime/shared_variables.h"
#include "treadle/simt/profile/runtime/totals.h"
#include "treadle/simt/uninterrupted.h"

/// What driver/block_order.h adds to a program; the linker names the ends of it.
struct CodeRank {
  uint64_t address, rank;
};
extern "C" [[gnu::weak]] const CodeRank __start_treadle_code_order[], __stop_treadle_code_order[];  // NOLINT

namespace treadle::profiler {

__thread Running running;
uintptr_t program_base;

namespace {

/// Events of a warp that are worth a look when another warp runs, and those after which a lane that waits for
/// others in another branch is no longer waited for, so that memory stays bounded.
constexpr size_t kWorthReplay = 2048, kMostPending = size_t{1} << 20;

std::mutex mutex;
std::vector<Block*>& blocks() {
  static auto* blocks = new std::vector<Block*>;
  return *blocks;
}

}  // namespace

const CodeOrder& code_order() {
  static const auto* order = [] {
    auto* result = new CodeOrder(checker::program_bytes());
    for (const CodeRank* rank = __start_treadle_code_order; rank != __stop_treadle_code_order; ++rank)
      result->set(place_in_program(rank->address), static_cast<uint32_t>(rank->rank));
    return result;
  }();
  return *order;
}

const std::vector<Block*>& all_blocks() { return blocks(); }

Block& block_of_this_thread() {
  // Never destroyed: what it has counted is wanted after its thread.
  static thread_local Block* block = new Block;
  return *block;
}

Block::Block() : counts(checker::program_bytes()) {
  const std::lock_guard lock(mutex);
  blocks().push_back(this);
}
Block::~Block() = default;

void Block::begin(unsigned threads) {
  threads_ = threads;
  warp_ = 0;
  while (warps_.size() < warps()) warps_.push_back(std::make_unique<WarpTrace>(code_order()));
  for (unsigned warp = 0; warp < warps(); ++warp)
    warps_[warp]->begin(std::min(kLanes, threads - warp * kLanes));
  const checker::SharedVariables& shared = checker::SharedVariables::of_program();
  running = {.lane = &lane_of(0),
             .shared_begin = shared.begin_here(),
             .shared_bytes = shared.bytes(),
             .built_ins_begin = shared.begin_here() + shared.built_ins_begin(),
             .built_ins_bytes = shared.built_ins_bytes(),
             .arguments_begin = reinterpret_cast<uintptr_t>(current_launch().arguments),
             .arguments_bytes = current_launch().argument_bytes,
             .in_atomic = false};
  counts.begin_block({running.shared_begin, running.shared_bytes});
  ++counts.blocks;
  counts.warps += warps();
}

void Block::end() {
  meet();
  running.lane = nullptr;
}

void Block::switch_to(unsigned thread) {
  if (thread / kLanes != warp_) {
    WarpTrace& before = *warps_[warp_];
    const size_t pending = before.pending();
    if (pending >= kMostPending)
      replay(before, WarpTrace::Extent::all);
    else if (pending >= kWorthReplay)
      replay(before, WarpTrace::Extent::complete);
    warp_ = thread / kLanes;
  }
  running.lane = &lane_of(thread);
}

void Block::meet() {
  for (unsigned warp = 0; warp < warps(); ++warp) replay(*warps_[warp], WarpTrace::Extent::all);
}

unsigned Block::live_warps() const {
  unsigned count = 0;
  for (unsigned warp = 0; warp < warps(); ++warp) {
    const unsigned lanes = std::min(kLanes, threads_ - warp * kLanes);
    count += std::any_of(warps_[warp]->lanes.begin(), warps_[warp]->lanes.begin() + lanes,
                         [](const LaneTrace& lane) { return !lane.ended; });
  }
  return count;
}

void Block::replay(WarpTrace& warp, WarpTrace::Extent extent) {
  const checked::Uninterrupted uninterrupted;
  warp.replay(extent, counts);
}

}  // namespace treadle::profiler
