#include "treadle/simt/check/runtime/early_reads.h"

#include "treadle/simt/check/runtime/findings.h"

namespace treadle::checker {

void EarlyReads::add(uintptr_t word, simt::Report report, uint32_t place) {
  reads_.push_back({word, std::move(report), place});
}

void EarlyReads::settle() {
  for (Read& read : reads_)
    if (raced_.count(read.word) != 0)
      Findings::all().forget("uninitialised", read.place, 0);
    else
      Findings::all().add(std::move(read.report), read.place, 0);
  reads_.clear();
  raced_.clear();
}

}  // namespace treadle::checker
