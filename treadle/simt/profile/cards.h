/// What GPUs can do, as far as a bound on a kernel's time needs it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "treadle/core/export.h"

namespace treadle::simt {

struct TREADLE_API Card {
  std::string name;
  unsigned architecture = 0;   ///< 90 for compute capability 9.0
  unsigned processors = 0;     ///< SMs
  double clock_ghz = 0;        ///< boost
  double memory_gbs = 0;       ///< of its memory, in GB/s
  double cache_megabytes = 0;  ///< L2
  double cache_bytes_per_clock = 0;
  // Operations of one SM in a clock; a fused product and sum is one.
  unsigned singles = 0, twices = 0, halves = 0, functions = 0;
  double tensor_tflops = 0;  ///< f16 with sums in f32, dense
  // What an SM has room for.
  unsigned threads = 0, blocks = 0;
  unsigned shared_bytes = 0;           ///< for all blocks
  unsigned shared_bytes_reserved = 0;  ///< by the system, of each block
  unsigned registers = 65536;
};

/// In the order of the help text.
TREADLE_API const std::vector<Card>& cards();
/// "H100, H200, …"
TREADLE_API std::string names_of_cards();
/// By its name, in upper or lower case. Throws ValueError, which names those that are known.
TREADLE_API const Card& card_named(const std::string& name);

}  // namespace treadle::simt
