/// What a thread knows to have happened before: how far it may rely on other blocks' and threads' accesses.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "treadle/simt/check/runtime/cells.h"

namespace treadle::checker {

/// Of one thread: its accesses before that many fences, and those up to a clock of its warp.
struct ThreadKnowledge {
  uint16_t thread = 0;
  uint32_t fences = 0, clock = 0;
};

/// Of one block: all accesses of epochs before `epoch`, and what is known of single threads, sorted by
/// thread.
struct BlockKnowledge {
  uint32_t block = 0;  ///< its first epoch, which no other has
  uint32_t epoch = 0;
  std::vector<ThreadKnowledge> threads;
};

/// Immutable: threads share it.
class Knowledge {
 public:
  Knowledge() = default;
  explicit Knowledge(BlockKnowledge one) { blocks_.push_back(std::move(one)); }

  /// Whether an access of that block happened before.
  bool covers(uint32_t block, const Record& record) const;

  /// Both together; one of the two itself where it holds the other.
  static std::shared_ptr<const Knowledge> merge(const std::shared_ptr<const Knowledge>& a,
                                                const std::shared_ptr<const Knowledge>& b);

 private:
  bool holds(const Knowledge& other) const;
  const BlockKnowledge* of(uint32_t block) const;

  std::vector<BlockKnowledge> blocks_;  ///< sorted by block
};

using SharedKnowledge = std::shared_ptr<const Knowledge>;

}  // namespace treadle::checker
