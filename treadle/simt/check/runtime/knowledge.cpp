#include "treadle/simt/check/runtime/knowledge.h"

#include <algorithm>

namespace treadle::checker {
namespace {

using Fences = std::vector<std::pair<uint16_t, uint32_t>>;

uint32_t fences_of(const Fences& fences, uint16_t thread) {
  const auto entry = std::lower_bound(fences.begin(), fences.end(), std::pair<uint16_t, uint32_t>(thread, 0));
  return entry != fences.end() && entry->first == thread ? entry->second : 0;
}

bool holds(const BlockKnowledge& a, const BlockKnowledge& b) {
  return a.epoch >= b.epoch && std::all_of(b.fences.begin(), b.fences.end(), [&](const auto& entry) {
           return fences_of(a.fences, entry.first) >= entry.second;
         });
}

Fences merged(const Fences& a, const Fences& b) {
  Fences all;
  all.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  Fences result;  // of each thread the last entry, which is the largest
  for (const auto& entry : all)
    if (!result.empty() && result.back().first == entry.first)
      result.back() = entry;
    else
      result.push_back(entry);
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
  return known != nullptr &&
         (record.epoch < known->epoch || fences_of(known->fences, record.thread) > record.fences);
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
      result->blocks_.push_back({x->block, std::max(x->epoch, y->epoch), merged(x->fences, y->fences)});
      ++x, ++y;
    }
  }
  return result;
}

}  // namespace treadle::checker
