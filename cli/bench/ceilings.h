/// What this machine can do at most: arithmetic and memory traffic, measured.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace treadle::cli {

/// Traffic of some threads with one level of memory, in bytes per second.
struct MemoryLevel {
  std::string name;
  int64_t capacity = 0;  ///< bytes that it holds of all these threads' data; 0: no limit
  double read = 0, write = 0;
};

/// The limits of a number of threads that work at once.
struct ThreadCeilings {
  int threads = 0;
  double operations = 0;            ///< f32 multiply-adds × 2 per second
  std::vector<MemoryLevel> levels;  ///< nearest first
};

struct Ceilings {
  std::string vectors;  ///< instruction set
  ThreadCeilings one, all;
  double region_seconds = 0;   ///< an empty parallel_for over all threads
  double op_call_seconds = 0;  ///< an op on one element, op by op
};

/// Takes a few seconds. Each figure is the best of several tries: a ceiling, not a mean.
Ceilings measure_ceilings();

/// The nearest level that holds so many bytes.
const MemoryLevel& level_for(const ThreadCeilings& ceilings, double bytes);

}  // namespace treadle::cli
