// Every load and store of a kernel: what the compiler calls for -fsanitize=thread, undefined-behaviour checks
// of indices and alignment, and what is checked of each access.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "treadle/core/error.h"
#include "treadle/simt/check/runtime/block.h"
#include "treadle/simt/check/runtime/epochs.h"
#include "treadle/simt/check/runtime/lanes.h"
#include "treadle/simt/check/runtime/shared_variables.h"
#include "treadle/simt/uninterrupted.h"

namespace treadle::checker {
namespace {

/// The most a thread's stack can have; what lies that near to the running code is the thread's own.
constexpr uintptr_t kStackBytes = 1024 * 1024;

bool on_stack(uintptr_t address) {
  return address - (reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - kStackBytes) < 2 * kStackBytes;
}

}  // namespace

/// Of readers those stay that a later write could be a race with: one warp's lanes, and one thread of another
/// warp, of another block where there is one.
[[gnu::noinline]] void Block::note_read(Cell& cell, const Record& now) {
  Record& read = cell.read;
  const bool same_epoch = read.epoch == epoch_;
  if (same_epoch && same_warp(read)) {
    if (read.clock != now.clock) {
      // Lanes that have met since are ordered before this read; the others stay.
      bool all_met = true;
      for_each_lane(cell, 0x0F, [&](unsigned lane) {
        all_met = warps_[warp_].seen[thread_ % 32][lane] >= read.clock;
        return all_met;
      });
      if (all_met) {
        read = now;
        cell.lanes = lane_;
        return;
      }
      read.clock = std::min(read.clock, now.clock);
    }
    add_lane(cell, thread_ % 32, now.mask);
    return;
  }
  if (same_epoch) {
    if (cell.other_read.epoch < safe_epoch_ || owner_of(cell.other_read.epoch).first_epoch == first_epoch_)
      cell.other_read = now;
    return;
  }
  if (!ordered(read)) {  // of another block, or of an epoch that only a flag could order
    cell.other_read = read;
    cell.other_read.mask &= 0x0F;
  }
  read = now;
  cell.lanes = lane_;
}

void Block::check_lanes(const Cell& cell, const Record& now, uintptr_t address, unsigned bytes) {
  for_each_lane(cell, now.mask, [&](unsigned lane) {
    Record before = cell.read;
    before.thread = static_cast<uint16_t>(before.thread / 32 * 32 + lane);
    if (ordered(before) || !conflict(before, now, false)) return true;
    report_race(before, false, now, true, address, bytes);
    return false;
  });
}

namespace {

/// Those of device memory, which blocks share, of one launch.
struct DeviceEarlierAtomics {
  std::atomic<uint32_t> launch{0};
  EarlierAtomics atomics;
};

DeviceEarlierAtomics& device_earlier_atomics() {
  static auto* atomics = new DeviceEarlierAtomics;
  return *atomics;
}

}  // namespace

EarlierAtomics& Block::earlier_atomics_of(uintptr_t address) {
  if (!in_region(address) && !program_variables.holds(address)) return earlier_atomics_;
  DeviceEarlierAtomics& device = device_earlier_atomics();
  if (device.launch.exchange(launch_epoch()) != launch_epoch()) device.atomics.clear();
  return device.atomics;
}

/// Another atomic write takes the place of the last one, and nothing orders them. One of another block is
/// kept rather than one of this block: a barrier may still order that.
[[gnu::noinline]] void Block::keep_earlier_atomic(const Cell& cell, uintptr_t address) {
  const checked::Uninterrupted uninterrupted;
  EarlierAtomics& atomics = earlier_atomics_of(address);
  if (owner_of(cell.write.epoch).first_epoch == first_epoch_) {
    const Record kept = atomics.find(cell);
    if (kept.epoch != 0 && !ordered(kept)) return;
  }
  atomics.keep(cell, cell.write);
}

[[gnu::noinline]] void Block::check_earlier_atomic(const Cell& cell, const Record& now, bool writes,
                                                   uint32_t safe_epoch, uintptr_t address, unsigned bytes) {
  const checked::Uninterrupted uninterrupted;
  const Record earlier = earlier_atomics_of(address).find(cell);
  if (earlier.epoch < safe_epoch || earlier.epoch == 0 || (earlier.mask & now.mask) == 0) return;
  // Where a fence stood before it, the last atomic has passed on what that published; and it came behind this
  // one, of the same word: a last block may set its counter to zero.
  Record fenced = earlier;
  if (fenced.fences > 0) --fenced.fences;
  if (!ordered(fenced) && conflict(earlier, now, writes))
    report_race(earlier, true, now, writes, address, bytes);
}

[[gnu::noinline]] void Block::check_copies(const Record& now, uintptr_t address, unsigned bytes) {
  for (const CopySource& source : sources_)
    if (address < source.begin + source.bytes && source.begin < address + bytes)
      return report_race(source.read, false, now, true, address, bytes);
}

/// Blocks that run at once share what is known of device memory; a lock serves many words.
std::atomic<bool> blocks_run_at_once = false;

namespace {

class WordLock {
 public:
  WordLock(uintptr_t address, Memory memory) {
    if (memory == Memory::of_block || !blocks_run_at_once.load(std::memory_order_relaxed)) return;
    ++checked::uninterrupted;
    flag_ = &flags()[address / 64 % kLocks].flag;
    while (flag_->exchange(true, std::memory_order_acquire))
      while (flag_->load(std::memory_order_relaxed)) std::this_thread::yield();
  }
  ~WordLock() {
    if (flag_ == nullptr) return;
    flag_->store(false, std::memory_order_release);
    --checked::uninterrupted;
  }
  WordLock(const WordLock&) = delete;
  WordLock& operator=(const WordLock&) = delete;

 private:
  static constexpr size_t kLocks = 4096;
  struct alignas(64) Flag {
    std::atomic<bool> flag{false};
  };
  static Flag* flags() {
    static constinit Flag flags[kLocks];
    return flags;
  }
  std::atomic<bool>* flag_ = nullptr;
};

}  // namespace

/// A plain read behind which the cell knows all that it knows before it; that this lane has read, too, is
/// noted. Most reads are such.
inline bool Block::is_known_read(Cell& cell, uint8_t mask, uint32_t safe_epoch) const {
  const Record &write = cell.write, &read = cell.read;
  if (write.epoch >= safe_epoch || write.kind == AccessKind::in_flight || read.epoch != epoch_ ||
      read.kind != AccessKind::plain || read.mask != mask)
    return false;
  if (!same_warp(read)) return cell.other_read.epoch == epoch_;  // read by two warps already
  if (read.clock != clock_) return false;
  cell.lanes |= lane_;
  return true;
}

/// Bytes of a word that are accessible and, for reads, initialised. `safe_epoch`: what was before it is
/// ordered.
template <bool kWrite>
inline void Block::access_word(uint8_t& state, Cell& cell, uint8_t mask, uint32_t safe_epoch, AccessKind kind,
                               uint32_t pc, uintptr_t address, unsigned bytes, Memory memory) {
  const WordLock lock(address, memory);
  const Record& write = cell.write;
  const bool in_flight = write.kind == AccessKind::in_flight && write.epoch >= first_epoch_;
  if ((write.epoch >= safe_epoch || in_flight) && (write.mask & mask) != 0) [[unlikely]] {
    const bool by_me = write.epoch == epoch_ && write.thread == thread_;
    const bool unordered = !by_me && !ordered(write), by_atomic = write.kind >= AccessKind::is_volatile;
    if (in_flight || unordered || by_atomic) {
      const Record now = record(kind, pc, mask);
      if ((in_flight || unordered) && conflict(write, now, kWrite))
        report_race(write, true, now, kWrite, address, bytes);
      else if (by_atomic && kind == AccessKind::plain)
        check_earlier_atomic(cell, now, kWrite, safe_epoch, address, bytes);
      else if (by_atomic && kWrite && unordered)
        keep_earlier_atomic(cell, address);
    }
  }
  if constexpr (!kWrite) {
    Record& read = cell.read;
    if (read.epoch == epoch_ && read.kind == kind && (read.mask & mask) == mask) {
      if (same_warp(read)) {
        if (read.clock == clock_ && read.mask == mask) {
          cell.lanes |= lane_;
          return;
        }
      } else if (cell.other_read.epoch == epoch_) {
        return;  // read by two warps already
      }
    }
    note_read(cell, record(kind, pc, mask));
  } else {
    Record& read = cell.read;
    if (read.epoch >= safe_epoch && (read.mask & mask) != 0 &&
        (read.epoch != epoch_ || cell.lanes != lane_ || !same_warp(read)))
      check_lanes(cell, record(kind, pc, mask), address, bytes);
    if (const Record& other = cell.other_read;
        other.epoch >= safe_epoch && (other.mask & mask) != 0 && !ordered(other))
      if (const Record now = record(kind, pc, mask); conflict(other, now, false))
        report_race(other, false, now, true, address, bytes);
    if ((read.mask & 0x0F & ~mask) == 0) read.epoch = 0;
    if ((cell.other_read.mask & ~mask) == 0) cell.other_read.epoch = 0;
    cell.write = record(kind, pc, mask);
    state |= mask;
  }
}

/// `state` and `cells` are those of the first word.
template <bool kWrite>
inline void Block::access_words(uint8_t* state, Cell* cells, uintptr_t address, unsigned bytes,
                                uint32_t safe_epoch, AccessKind kind, uintptr_t pc, Memory memory) {
  const unsigned first = address % kWordBytes, words = (first + bytes + kWordBytes - 1) / kWordBytes;
  const auto mask_of = [&](unsigned word) {
    return word_mask(word == 0 ? first : 0, word == 0 ? bytes : first + bytes - word * kWordBytes);
  };
  for (unsigned word = 0; word < words; ++word) {
    const uint8_t mask = mask_of(word), needed = static_cast<uint8_t>(kWrite ? mask << 4 : mask << 4 | mask);
    if ((state[word] & needed) == needed) [[likely]]
      continue;
    if ((accessible(state[word]) & mask) != mask)
      return report_bounds(kind, kWrite, address, bytes, pc, state[word] == kFreed);
    note_early_read(address - first + word * kWordBytes, bytes, pc);
    if (in_region(address)) state[word] |= mask;  // once for each word
  }
  for (unsigned word = 0; word < words; ++word)
    access_word<kWrite>(state[word], cells[word], mask_of(word), safe_epoch, kind, place_in_program(pc),
                        address, bytes, memory);
}

template <bool kWrite>
inline void Block::access_shared(SharedShadow& shadow, uintptr_t address, unsigned bytes, AccessKind kind,
                                 uintptr_t pc) {
  const size_t word = (address - shadow.begin) / kWordBytes;
  if (accessible(shadow.state[word]) == 0 && SharedVariables::of_program().is_guard(address - static_.begin))
    return;
  if constexpr (kWrite) {
    if (word < shadow.used_begin) shadow.used_begin = word;
    if (word + 5 > shadow.used_end) shadow.used_end = word + 5;  // an access has at most five words
  }
  access_words<kWrite>(shadow.state + word, shadow.cells + word, address, bytes, epoch_, kind, pc,
                       Memory::of_block);
}

bool Block::is_uninitialised(uintptr_t address, unsigned bytes) const {
  const uint8_t* state =
      in_region(address)                          ? state_of(address)
      : address - dynamic_.begin < dynamic_.bytes ? &dynamic_.state[(address - dynamic_.begin) / kWordBytes]
      : address - static_.begin < static_.bytes   ? &static_.state[(address - static_.begin) / kWordBytes]
                                                  : nullptr;
  if (state == nullptr) return false;
  bool all_written = true;
  for (unsigned first = address % kWordBytes, end = first + bytes; first < end; ++state) {
    const uint8_t mask = word_mask(first, end - first);
    if ((accessible(*state) & mask) != mask) return false;  // that is another mistake
    all_written &= (initialised(*state) & mask) == mask;
    end -= std::min(end, kWordBytes);
    first = 0;
  }
  return !all_written;
}

template <bool kWrite>
[[gnu::noinline]] void Block::access_elsewhere(uintptr_t address, unsigned bytes, AccessKind, uintptr_t pc) {
  if (in_program(address)) return;
  if (address - arguments_begin_ < arguments_bytes_ || is_allowed_host_memory(address)) return;
  report_simple("host-pointer",
                fmt::format("{} of {} bytes at {:#x}, which is no device memory", kWrite ? "write" : "read",
                            bytes, address),
                address, bytes, pc);
}

/// The usual access: aligned, of shared memory or of a block of device memory, and nothing is wrong with it.
/// False: nothing is done yet.
template <bool kWrite, unsigned kBytes>
inline bool Block::access_quickly(uintptr_t address, uintptr_t pc) {
  constexpr uint8_t kMask = kBytes >= kWordBytes ? 0x0F : (1u << kBytes) - 1;
  if (address % kBytes != 0 || pending_.has_value()) return false;
  if (kWrite && !sources_.empty()) [[unlikely]]
    return false;
  const unsigned shift = kBytes >= kWordBytes ? 0 : address % kWordBytes;
  const auto mask = static_cast<uint8_t>(kMask << shift),
             needed = static_cast<uint8_t>(kWrite ? mask << 4 : mask << 4 | mask);
  constexpr unsigned kWords = kBytes >= kWordBytes ? kBytes / kWordBytes : 1;
  uint8_t* state;
  Cell* cells;
  uint32_t safe_epoch = epoch_;
  auto memory = Memory::of_block;
  if (const uintptr_t offset = address - static_.begin; offset < static_.bytes) {
    if (offset - built_ins_offset_ < built_ins_bytes_) return true;
    SharedShadow& shadow = address - dynamic_.begin < dynamic_.bytes ? dynamic_ : static_;
    const size_t word = (address - shadow.begin) / kWordBytes;
    if constexpr (kWrite) {
      shadow.used_begin = std::min(shadow.used_begin, word);
      shadow.used_end = std::max(shadow.used_end, word + kWords);
    }
    state = shadow.state + word;
    cells = shadow.cells + word;
  } else if (in_region(address)) {
    state = state_of(address);
    cells = cell_of(address);
    safe_epoch = safe_epoch_;
    memory = Memory::of_device;
  } else if (address - dynamic_.begin < dynamic_.bytes) {
    const size_t word = (address - dynamic_.begin) / kWordBytes;
    if constexpr (kWrite) dynamic_.used_end = std::max(dynamic_.used_end, word + kWords);
    state = dynamic_.state + word;
    cells = dynamic_.cells + word;
  } else {
    return on_stack(address) || address - arguments_begin_ < arguments_bytes_;
  }
  for (unsigned word = 0; word < kWords; ++word)
    if ((state[word] & needed) != needed) return false;
  if constexpr (!kWrite && kWords == 1)
    if (memory == Memory::of_block && is_known_read(*cells, mask, safe_epoch)) return true;
  for (unsigned word = 0; word < kWords; ++word)
    access_word<kWrite>(state[word], cells[word], mask, safe_epoch, AccessKind::plain, place_in_program(pc),
                        address, kBytes, memory);
  return true;
}

template <bool kWrite>
[[gnu::noinline]] void Block::access(uintptr_t address, unsigned bytes, AccessKind kind, uintptr_t pc) {
  const checked::Uninterrupted uninterrupted;
  settle();
  if (kWrite && !sources_.empty()) check_copies(record(kind, place_in_program(pc), 0x0F), address, bytes);
  if (address - dynamic_.begin < dynamic_.bytes)
    return access_shared<kWrite>(dynamic_, address, bytes, kind, pc);
  if (address - static_.begin < static_.bytes) {
    if (address - static_.begin - built_ins_offset_ < built_ins_bytes_) return;
    return access_shared<kWrite>(static_, address, bytes, kind, pc);
  }
  if (in_region(address))
    return access_words<kWrite>(state_of(address), cell_of(address), address, bytes, safe_epoch_, kind, pc,
                                Memory::of_device);
  if (program_variables.holds(address)) {
    const size_t word = (address - program_variables.begin) / kWordBytes;
    return access_words<kWrite>(program_variables.state + word, program_variables.cells + word, address,
                                bytes, safe_epoch_, kind, pc, Memory::of_device);
  }
  if (!on_stack(address)) access_elsewhere<kWrite>(address, bytes, kind, pc);
}

void Block::access_atomically(uintptr_t address, unsigned bytes, AccessKind kind, uintptr_t pc) {
  if (is_uninitialised(address, bytes)) access<false>(address, bytes, kind, pc);
  access<true>(address, bytes, kind, pc);
}

template void Block::access<false>(uintptr_t, unsigned, AccessKind, uintptr_t);
template void Block::access<true>(uintptr_t, unsigned, AccessKind, uintptr_t);

namespace {

/// Volatile reads after which the executor hears of each: a thread that polls waits for another.
constexpr uint32_t kPollsAlone = 16;

template <bool kWrite, unsigned kBytes>
inline void plain(void* pointer, void* caller) {
  Block* block = running_block;
  if (block == nullptr) return;
  const auto address = reinterpret_cast<uintptr_t>(pointer), pc = reinterpret_cast<uintptr_t>(caller);
  if (!block->access_quickly<kWrite, kBytes>(address, pc)) [[unlikely]]
    block->access<kWrite>(address, kBytes, AccessKind::plain, pc);
}

template <bool kWrite>
void with_volatile(void* pointer, unsigned bytes, void* pc) {
  Block* block = running_block;
  if (block == nullptr) return;
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  if constexpr (kWrite) {
    block->exchange_signal(address, AccessKind::is_volatile, false, true, false);
  } else {
    block->running().asks_at = place_in_program(reinterpret_cast<uintptr_t>(pc));
    if (++block->running().polls > kPollsAlone) checked::poll(pointer, bytes);
    block->exchange_signal(address, AccessKind::is_volatile, true, false, false);
  }
  block->access<kWrite>(address, bytes, AccessKind::is_volatile, reinterpret_cast<uintptr_t>(pc));
}

/// Bytes that are copied or set as a whole.
template <bool kWrite>
void range(const void* pointer, size_t bytes, void* pc) {
  Block* block = running_block;
  if (block == nullptr) return;
  auto address = reinterpret_cast<uintptr_t>(pointer);
  for (size_t done = 0; done < bytes;) {
    const auto step = static_cast<unsigned>(std::min<size_t>(bytes - done, 16 - (address + done) % 16));
    block->access<kWrite>(address + done, step, AccessKind::plain, reinterpret_cast<uintptr_t>(pc));
    done += step;
  }
}

/// An atomic operation of the language, not of CUDA's functions: those announce themselves.
void atomic_of_language(const volatile void* pointer, unsigned bytes, int order, bool reads, bool writes,
                        bool adds, void* pc) {
  Block* block = running_block;
  if (block == nullptr || block->in_atomic()) return;
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  if (writes && order >= __ATOMIC_RELEASE) block->fence(Scope::system);
  block->exchange_signal(address, AccessKind::atomic_system, reads, writes, adds);
  if (writes && reads)
    block->access_atomically(address, bytes, AccessKind::atomic_system, reinterpret_cast<uintptr_t>(pc));
  else if (writes)
    block->access<true>(address, bytes, AccessKind::atomic_system, reinterpret_cast<uintptr_t>(pc));
  else
    block->access<false>(address, bytes, AccessKind::atomic_system, reinterpret_cast<uintptr_t>(pc));
}

}  // namespace
}  // namespace treadle::checker

#define TREADLE_CALLER __builtin_return_address(0)

// NOLINTBEGIN: the compiler chose these names.
extern "C" {
using treadle::checker::atomic_of_language;
using treadle::checker::plain;
using treadle::checker::range;
using treadle::checker::with_volatile;

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

#define TREADLE_ACCESSES(bytes)                                                                             \
  void __tsan_read##bytes(void* address) { plain<false, bytes>(address, TREADLE_CALLER); }                  \
  void __tsan_write##bytes(void* address) { plain<true, bytes>(address, TREADLE_CALLER); }                  \
  void __tsan_unaligned_read##bytes(void* address) { plain<false, bytes>(address, TREADLE_CALLER); }        \
  void __tsan_unaligned_write##bytes(void* address) { plain<true, bytes>(address, TREADLE_CALLER); }        \
  void __tsan_volatile_read##bytes(void* address) { with_volatile<false>(address, bytes, TREADLE_CALLER); } \
  void __tsan_volatile_write##bytes(void* address) { with_volatile<true>(address, bytes, TREADLE_CALLER); } \
  void __tsan_unaligned_volatile_read##bytes(void* address) {                                               \
    with_volatile<false>(address, bytes, TREADLE_CALLER);                                                   \
  }                                                                                                         \
  void __tsan_unaligned_volatile_write##bytes(void* address) {                                              \
    with_volatile<true>(address, bytes, TREADLE_CALLER);                                                    \
  }                                                                                                         \
  void __tsan_read_write##bytes(void* address) {                                                            \
    plain<false, bytes>(address, TREADLE_CALLER);                                                           \
    plain<true, bytes>(address, TREADLE_CALLER);                                                            \
  }
TREADLE_ACCESSES(1)
TREADLE_ACCESSES(2)
TREADLE_ACCESSES(4)
TREADLE_ACCESSES(8)
TREADLE_ACCESSES(16)
void __tsan_read_range(void* address, size_t bytes) { range<false>(address, bytes, TREADLE_CALLER); }
void __tsan_write_range(void* address, size_t bytes) { range<true>(address, bytes, TREADLE_CALLER); }

void __tsan_atomic_thread_fence(int) {
  treadle::checker::Block* block = treadle::checker::running_block;
  if (block != nullptr && !block->take_announced_fence()) block->fence(treadle::checker::Scope::system);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {}
}
// NOLINTEND
#include "treadle/simt/check/runtime/language_atomics.h"
