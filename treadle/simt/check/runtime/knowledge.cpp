#include "treadle/simt/check/runtime/knowledge.h"

#include <algorithm>
#include <iterator>

namespace treadle::checker {
namespace {

using Threads = std::vector<ThreadKnowledge>;

bool by_thread(const ThreadKnowledge& a, const ThreadKnowledge& b) { return a.thread < b.thread; }

ThreadKnowledge of(const Threads& threads, uint16_t thread) {
  const auto entry =
      std::lower_bound(threads.begin(), threads.end(), ThreadKnowledge{thread, 0, 0}, by_thread);
  return entry != threads.end() && entry->thread == thread ? *entry : ThreadKnowledge{thread, 0, 0};
}

bool holds(const BlockKnowledge& a, const BlockKnowledge& b) {
  return a.epoch >= b.epoch &&
         std::all_of(b.threads.begin(), b.threads.end(), [&](const ThreadKnowledge& other) {
           const ThreadKnowledge mine = of(a.threads, other.thread);
           return mine.fences >= other.fences && mine.clock >= other.clock;
         });
}

Threads merged(const Threads& a, const Threads& b) {
  Threads all;
  all.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all), by_thread);
  Threads result;
  for (const ThreadKnowledge& entry : all) {
    if (result.empty() || result.back().thread != entry.thread) {
      result.push_back(entry);
      continue;
    }
    result.back().fences = std::max(result.back().fences, entry.fences);
    result.back().clock = std::max(result.back().clock, entry.clock);
  }
  return result;
}

}  // namespace

const BlockKnowledge* Knowledge::of(uint32_t block) const {
  const auto entry =
      std::lower_bound(blocks_.begin(), blocks_.end(), block,
                       [](const BlockKnowledge& b, uint32_t number) { return b.block < number; });
  return entry != blocks_.end() && entry->block == block ? &*entry : nullptr;
}

bool Knowledge::covers(uint32_t block, const Record& record) const {
  const BlockKnowledge* known = of(block);
  if (known == nullptr) return false;
  if (record.epoch < known->epoch) return true;
  const ThreadKnowledge thread = checker::of(known->threads, record.thread);
  return thread.fences > record.fences || thread.clock >= record.clock;
}

bool Knowledge::holds(const Knowledge& other) const {
  return std::all_of(other.blocks_.begin(), other.blocks_.end(), [&](const BlockKnowledge& block) {
    const BlockKnowledge* mine = of(block.block);
    return mine != nullptr && checker::holds(*mine, block);
  });
}

SharedKnowledge Knowledge::merge(const SharedKnowledge& a, const SharedKnowledge& b) {
  if (b == nullptr || a == b) return a;
  if (a == nullptr || b->holds(*a)) return b;
  if (a->holds(*b)) return a;
  auto result = std::make_shared<Knowledge>();
  auto x = a->blocks_.begin(), y = b->blocks_.begin();
  const auto x_end = a->blocks_.end(), y_end = b->blocks_.end();
  while (x != x_end || y != y_end) {
    if (y == y_end || (x != x_end && x->block < y->block)) {
      result->blocks_.push_back(*x++);
    } else if (x == x_end || y->block < x->block) {
      result->blocks_.push_back(*y++);
    } else {
      result->blocks_.push_back({x->block, std::max(x->epoch, y->epoch), merged(x->threads, y->threads)});
      ++x, ++y;
    }
  }
  return result;
}

}  // namespace treadle::checker
