/// The block that an OS thread runs: traces of its warps.
#pragma once

#include <memory>
#include <vector>

#include "treadle/simt/profile/runtime/kernel_counts.h"
#include "treadle/simt/profile/runtime/warp_trace.h"

namespace treadle::profiler {

/// What each access needs of the running thread. `lane` is null where nothing is counted.
struct Running {
  LaneTrace* lane;
  uintptr_t shared_begin, shared_bytes;
  uintptr_t built_ins_begin, built_ins_bytes;
  uintptr_t arguments_begin, arguments_bytes;
  bool in_atomic;  ///< what the language's atomic operations do was noted
};
extern __thread Running running;

/// The most a thread's stack can have; what lies that near to the running code is the thread's own.
constexpr uintptr_t kStackBytes = 1024 * 1024;

/// Memory that a GPU has too: not the running thread's stack, its arguments and its indices.
inline bool is_memory(uintptr_t address) {
  if (address - running.shared_begin < running.shared_bytes)
    return address - running.built_ins_begin >= running.built_ins_bytes;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return address - (here - kStackBytes) >= 2 * kStackBytes &&
         address - running.arguments_begin >= running.arguments_bytes;
}

/// Where the program begins in memory.
extern uintptr_t program_base;
inline uint32_t place_in_program(uintptr_t address) { return static_cast<uint32_t>(address - program_base); }

class Block {
 public:
  Block();
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  void begin(unsigned threads);
  void end();
  void switch_to(unsigned thread);
  void end_thread(unsigned thread) { lane_of(thread).ended = true; }
  /// All threads that have not ended have met.
  void meet();

  unsigned warps() const { return static_cast<unsigned>((threads_ + kLanes - 1) / kLanes); }
  /// The number of threads that have not ended, rounded up to warps.
  unsigned live_warps() const;

  KernelCounts counts;

 private:
  LaneTrace& lane_of(unsigned thread) { return warps_[thread / kLanes]->lanes[thread % kLanes]; }
  void replay(WarpTrace& warp, WarpTrace::Extent extent);

  unsigned threads_ = 0, warp_ = 0;
  std::vector<std::unique_ptr<WarpTrace>> warps_;
};

/// The calling thread's.
Block& block_of_this_thread();
/// All that there are.
const std::vector<Block*>& all_blocks();

}  // namespace treadle::profiler
