#include "cli/simt/report_kinds.h"

namespace treadle::cli {

const std::vector<ReportKind>& report_kinds() {
  static const std::vector<ReportKind> kinds{
      {"race", "Two threads access the same memory, one of them writes, and nothing orders them"},
      {"out-of-bounds", "An access outside of the variable or allocation that it is meant for"},
      {"uninitialised", "Memory is read that nobody has written"},
      {"use-after-free", "Device memory is used after it was freed"},
      {"misaligned", "An access at an address that is no multiple of its size"},
      {"host-pointer", "A kernel uses a pointer to host memory"},
      {"divergent-barrier", "A barrier that a part of the block does not reach, or reaches elsewhere"},
      {"divergent-collective", "A warp's collective whose lanes are not those of its mask"},
      {"deadlock", "Threads that wait for one another forever"},
      {"assert", "An assertion of a kernel does not hold"},
      {"fault", "A kernel ended in a way that a GPU would not survive"},
      {"api", "A mistake in a call of CUDA's host interface"},
      {"leak", "Device memory that nobody freed"},
  };
  return kinds;
}

std::string other_place_text(const simt::Report& report) {
  if (report.kind == "race") return "the other access";
  if (report.kind == "divergent-barrier" || report.kind == "divergent-collective" ||
      report.kind == "deadlock")
    return "where other threads wait";
  return "the memory's origin";
}

}  // namespace treadle::cli
