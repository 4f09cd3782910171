/// The block that an OS thread runs: its clocks, its shared memory, and the rules of what is ordered before
/// what.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "treadle/simt/check/runtime/cells.h"
#include "treadle/simt/check/runtime/device_memory.h"
#include "treadle/simt/check/runtime/earlier_atomics.h"
#include "treadle/simt/check/runtime/early_reads.h"
#include "treadle/simt/check/runtime/findings.h"
#include "treadle/simt/check/runtime/knowledge.h"
#include "treadle/simt/check/runtime/shadow.h"
#include "treadle/simt/hooks.h"

namespace treadle::checker {

using checked::hooks::Scope;

struct ThreadState {
  uint32_t fences = 0;
  uint32_t polls = 0;
  uint32_t asks_at = 0;                   ///< where it last read a volatile variable, or used an atomic
  SharedKnowledge learnt;                 ///< by atomics and volatile reads since the last barrier
  SharedKnowledge for_block, for_device;  ///< what its last fence published, and its last one of device
                                          ///< scope; and those of others that it has met since
};

struct WarpState {
  std::array<uint32_t, 32> clock{};                 ///< of each lane
  std::array<std::array<uint32_t, 32>, 32> seen{};  ///< seen[a][b]: the clock of lane b that lane a knows
};

/// What an atomic or volatile variable passes on.
struct Signal {
  SharedKnowledge to_device;
  SharedKnowledge to_block;  ///< for threads of `block` only
  uint32_t block = 0;
};

/// What a copy in the background reads, until it has arrived.
struct CopySource {
  uintptr_t begin, shared;
  unsigned bytes;
  Record read;
};

/// A race whose write is not done yet: it is one only if the write changes what is there.
struct PendingRace {
  uintptr_t address;
  unsigned bytes;
  unsigned char before[16];
  simt::Report report;
  uint64_t place, other;
};

/// Whose memory it is: a block's own, or that of all blocks.
enum class Memory : bool { of_block, of_device };

class Block {
 public:
  Block();
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  void begin(uint64_t number, unsigned threads, void* dynamic_shared, size_t bytes);
  void end();
  void switch_to(unsigned thread) {
    thread_ = thread;
    warp_ = thread / 32;
    lane_ = 1u << thread % 32;
    clock_ = warps_[warp_].clock[thread % 32];
  }

  void pass_barrier();
  void pass_grid_barrier();
  void meet_lanes(unsigned warp, unsigned lanes);
  void fence(Scope scope);
  /// What a signal told the running thread; and, where `writes`, what it passes on.
  void exchange_signal(uintptr_t address, AccessKind kind, bool reads, bool writes, bool adds);

  template <bool kWrite>
  void access(uintptr_t address, unsigned bytes, AccessKind kind, uintptr_t pc);

  template <bool kWrite, unsigned kBytes>
  bool access_quickly(uintptr_t address, uintptr_t pc);

  /// Bytes that will arrive later: until then they are nobody's to read or write, and the `read` bytes they
  /// come from are nobody's to write.
  void begin_copy(uintptr_t shared, unsigned bytes, uintptr_t from, unsigned read, uintptr_t pc);
  void end_copy(uintptr_t shared, unsigned bytes);

  unsigned thread() const { return thread_; }
  static simt::Coordinates coordinates_of_block(uint64_t number);
  static simt::Coordinates coordinates_of_thread(unsigned thread);
  ThreadState& running() { return threads_[thread_]; }

  void access_atomically(uintptr_t address, unsigned bytes, AccessKind kind, uintptr_t pc);

  /// Between both, what the language's atomic operations do was announced.
  void set_in_atomic(bool in_atomic) { in_atomic_ = in_atomic; }
  bool in_atomic() const { return in_atomic_; }
  /// The fence of the language that follows is the one that was announced.
  void announce_fence() { fence_announced_ = true; }
  bool take_announced_fence() { return std::exchange(fence_announced_, false); }

  /// The lanes that a warp of the block has.
  unsigned lanes_of(unsigned warp) const {
    return count_ >= warp * 32 + 32 ? 0xffffffffu : (1u << (count_ - warp * 32)) - 1;
  }

  void report_mistake(const checked::hooks::Mistake& mistake);
  void report_at(const char* kind, const char* file, unsigned line, std::string message,
                 const char* allocation);
  /// Decides what waited for a write to be done.
  void settle() {
    if (pending_.has_value()) [[unlikely]]
      settle_pending();
  }

 private:
  void settle_pending();
  void note_race(uintptr_t address, unsigned bytes);
  void note_early_read(uintptr_t address, unsigned bytes, uintptr_t pc);

  bool is_known_read(Cell& cell, uint8_t mask, uint32_t safe_epoch) const;
  template <bool kWrite>
  void access_word(uint8_t& state, Cell& cell, uint8_t mask, uint32_t safe_epoch, AccessKind kind,
                   uint32_t pc, uintptr_t address, unsigned bytes, Memory memory);
  template <bool kWrite>
  void access_words(uint8_t* state, Cell* cells, uintptr_t address, unsigned bytes, uint32_t safe_epoch,
                    AccessKind kind, uintptr_t pc, Memory memory);
  template <bool kWrite>
  void access_shared(SharedShadow& shadow, uintptr_t address, unsigned bytes, AccessKind kind, uintptr_t pc);
  template <bool kWrite>
  void access_elsewhere(uintptr_t address, unsigned bytes, AccessKind kind, uintptr_t pc);

  void note_read(Cell& cell, const Record& now);
  Record record(AccessKind kind, uint32_t pc, uint8_t mask) const;
  bool ordered(const Record& before) const;
  bool ordered_in_warp(const Record& before) const;
  bool same_warp(const Record& a) const { return a.thread / 32u == warp_; }
  bool conflict(const Record& before, const Record& now, bool both_write) const;
  void check_lanes(const Cell& cell, const Record& now, uintptr_t address, unsigned bytes);
  EarlierAtomics& earlier_atomics_of(uintptr_t address);
  void keep_earlier_atomic(const Cell& cell, uintptr_t address);
  void check_earlier_atomic(const Cell& cell, const Record& now, bool writes, uint32_t safe_epoch,
                            uintptr_t address, unsigned bytes);
  void check_copies(const Record& now, uintptr_t address, unsigned bytes);

  bool is_uninitialised(uintptr_t address, unsigned bytes) const;
  SharedShadow* shadow_of(uintptr_t address);
  void report_race(const Record& before, bool wrote_before, const Record& now, bool writes_now,
                   uintptr_t address, unsigned bytes);
  void report_bounds(AccessKind kind, bool write, uintptr_t address, unsigned bytes, uintptr_t pc,
                     bool freed);
  void report_simple(const char* kind, std::string message, uintptr_t address, unsigned bytes, uintptr_t pc);
  simt::Report report_here(const char* kind, simt::Place place) const;

  uint64_t number_ = 0;
  unsigned thread_ = 0, count_ = 0;
  unsigned warp_ = 0, lane_ = 1, clock_ = 1;  ///< of the running thread; the lane as a bit
  uint32_t first_epoch_ = 0, epoch_ = 0, safe_epoch_ = 0;
  std::vector<ThreadState> threads_;
  std::vector<WarpState> warps_;
  SharedKnowledge learnt_;     ///< what all threads know since the last barrier
  SharedKnowledge published_;  ///< for the device, by fences before the last barrier
  bool fenced_ = false, learnt_by_threads_ = false;
  bool in_atomic_ = false, fence_announced_ = false;
  std::unordered_map<uintptr_t, Signal> signals_;  ///< of shared memory
  SharedShadow static_, dynamic_;
  EarlierAtomics earlier_atomics_;   ///< of shared memory
  std::vector<CopySource> sources_;  ///< of copies in the background
  std::optional<PendingRace> pending_;
  EarlyReads early_reads_;
  uintptr_t built_ins_offset_ = 0, arguments_begin_ = 0;
  size_t built_ins_bytes_ = 0, arguments_bytes_ = 0;
};

inline Record Block::record(AccessKind kind, uint32_t pc, uint8_t mask) const {
  return {.epoch = epoch_,
          .pc = pc,
          .clock = clock_,
          .fences = threads_[thread_].fences,
          .thread = static_cast<uint16_t>(thread_),
          .kind = kind,
          .mask = mask};
}

/// Null outside of blocks.
extern __thread Block* running_block;

/// Set by the launch: whether several blocks run at once.
extern std::atomic<bool> blocks_run_at_once;

/// Once, before anything else here.
void prepare_blocks();

/// At the end of a launch: reports what was read of device memory that nobody had written.
void settle_device_early_reads();

/// The program's variables, `__device__` ones among them.
extern Shadow program_variables;

/// Where the program begins in memory.
extern uintptr_t program_base;
/// Where in the program: a call's return address, or a Site's data among the constants.
inline uint32_t place_in_program(uintptr_t pc) { return static_cast<uint32_t>(pc - program_base); }
simt::Place place_of(uint32_t place);

}  // namespace treadle::checker
