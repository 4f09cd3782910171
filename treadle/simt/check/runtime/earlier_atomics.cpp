#include "treadle/simt/check/runtime/earlier_atomics.h"

namespace treadle::checker {

void EarlierAtomics::keep(const Cell& cell, const Record& write) {
  const std::lock_guard lock(mutex_);
  writes_[&cell] = write;
}

Record EarlierAtomics::find(const Cell& cell) const {
  const std::lock_guard lock(mutex_);
  const auto found = writes_.find(&cell);
  return found == writes_.end() ? Record() : found->second;
}

void EarlierAtomics::clear() {
  const std::lock_guard lock(mutex_);
  writes_.clear();
}

}  // namespace treadle::checker
