/// Of each word the last atomic write is remembered. Others may have come before it that nothing orders: one
/// of them is kept here, so that a plain access behind the last is seen to be a race with it.
#pragma once

#include <mutex>
#include <unordered_map>

#include "treadle/simt/check/runtime/cells.h"

namespace treadle::checker {

class EarlierAtomics {
 public:
  void keep(const Cell& cell, const Record& write);
  /// Epoch 0: none.
  Record find(const Cell& cell) const;
  void clear();

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const Cell*, Record> writes_;
};

}  // namespace treadle::checker
