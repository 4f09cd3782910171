#include "treadle/compile/replay_scratch.h"

#include <algorithm>
#include <utility>

#include "treadle/compile/arena.h"

namespace treadle {

void* ReplayWorkspace::take(size_t bytes) {
  const size_t begin = taken_;
  taken_ += arena_aligned(std::max<size_t>(bytes, 1));
  if (taken_ <= bytes_) return memory_ + begin;
  overflow_.push_back(make_intrusive<Storage>(device_, bytes));
  return overflow_.back()->data();
}

KeptMemory ReplayWorkspace::keep(size_t bytes, std::initializer_list<int> inputs) {
  KeptBlock* block = std::exchange(kept_, nullptr);  // one for a call
  auto memory = block ? block->open(bytes, inputs) : std::nullopt;
  return memory ? *memory : KeptMemory{take(bytes), false};
}

ReplayScratch::ReplayScratch(const Program& program, bool keeps)
    : program_(program), keeps_(keeps), workspace_(program.device), asked_(program.steps.size()) {
  offsets_ = planned_ = asked_;
  for (size_t i = 0; i < program.steps.size(); ++i) kept_.emplace_back(program, i);
}

size_t ReplayScratch::plan() {
  grew_ = false;
  workspace_.use(nullptr, 0, nullptr);  // lets go of what the allocator gave
  size_t needed = 0;
  const auto placed = placed_buffers(program_.buffers);
  for (size_t i = 0; i < asked_.size(); ++i) {
    offsets_[i] = lowest_place(placed, int(i), int(i), asked_[i]);
    if (asked_[i] > 0) needed = std::max(needed, offsets_[i] + asked_[i]);
  }
  planned_ = asked_;
  return needed;
}

size_t ReplayScratch::kept_bytes() const {
  size_t bytes = 0;
  for (const KeptBlock& block : kept_) bytes += block.bytes();
  return bytes;
}

}  // namespace treadle
