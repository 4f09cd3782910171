/// Reads of what nobody had written: mistakes of their own, unless somebody writes it at the same time, which
/// is a race.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "treadle/simt/check/report.h"

namespace treadle::checker {

class EarlyReads {
 public:
  void add(uintptr_t word, simt::Report report, uint32_t place);
  void note_race(uintptr_t word) { raced_.insert(word); }
  /// Reports those that no race explains.
  void settle();

 private:
  struct Read {
    uintptr_t word;
    simt::Report report;
    uint32_t place;
  };
  std::vector<Read> reads_;
  std::unordered_set<uintptr_t> raced_;
};

}  // namespace treadle::checker
