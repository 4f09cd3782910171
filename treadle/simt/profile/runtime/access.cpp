// What the compiler calls for -fsanitize=thread and -fsanitize-coverage=trace-pc: each load, store and
// stretch of code of a kernel.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "treadle/simt/executor_calls.h"
#include "treadle/simt/give_way.h"
#include "treadle/simt/profile/runtime/block.h"

namespace treadle::profiler {
namespace {

/// Volatile reads after which the executor hears of each: a thread that polls waits for another.
constexpr uint32_t kPollsAlone = 16;
/// Events after which a thread lets the others of its warp catch up.
constexpr uint32_t kEventsAlone = 4096;

inline void note(EventKind kind, const volatile void* pointer, unsigned bytes, void* caller) {
  LaneTrace* const lane = running.lane;
  if (lane == nullptr) return;
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  if (!is_memory(address)) return;
  lane->append(place_in_program(reinterpret_cast<uintptr_t>(caller)), Event::pack(kind, bytes, address));
}

/// The next one of a statement's accesses, side by side.
void note_more(EventKind kind, const void* pointer, unsigned bytes, void* caller) {
  LaneTrace* const lane = running.lane;
  if (lane == nullptr || lane->extend_last(kind, bytes, reinterpret_cast<uintptr_t>(pointer))) return;
  note(kind, pointer, bytes, caller);
}

void poll(const void* pointer, unsigned bytes) {
  LaneTrace* const lane = running.lane;
  if (lane != nullptr && ++lane->polls > kPollsAlone) checked::poll(pointer, bytes);
}

/// Bytes that are copied or set as a whole.
void note_range(EventKind kind, const void* pointer, size_t bytes, void* caller) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  for (size_t done = 0; done < bytes;) {
    const auto step = static_cast<unsigned>(std::min<size_t>(bytes - done, 16 - (address + done) % 16));
    note(kind, static_cast<const char*>(pointer) + done, step, caller);
    done += step;
  }
}

/// An atomic operation of the language, not of CUDA's functions: those announce themselves.
void atomic_of_language(const volatile void* pointer, unsigned bytes, int, bool reads, bool writes, bool,
                        void* caller) {
  if (running.lane == nullptr || running.in_atomic) return;
  note(reads && writes ? EventKind::atomic
       : writes        ? EventKind::store
                       : EventKind::load,
       pointer, bytes, caller);
}

}  // namespace
}  // namespace treadle::profiler

#define TREADLE_CALLER __builtin_return_address(0)

// NOLINTBEGIN: the compiler chose these names.
extern "C" {
using treadle::profiler::atomic_of_language;
using treadle::profiler::EventKind;
using treadle::profiler::note;
using treadle::profiler::note_more;
using treadle::profiler::note_range;
using treadle::profiler::poll;
using treadle::profiler::running;

void __sanitizer_cov_trace_pc() {
  treadle::profiler::LaneTrace* const lane = running.lane;
  if (lane == nullptr) return;
  const auto caller = reinterpret_cast<uintptr_t>(TREADLE_CALLER);
  lane->append_block(treadle::profiler::place_in_program(caller),
                     reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
  if (++lane->since_pause < treadle::profiler::kEventsAlone) [[likely]]
    return;
  lane->since_pause = 0;
  treadle::checked::give_way();
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

#define TREADLE_ACCESSES(bytes)                                                                       \
  void __tsan_read##bytes(void* address) { note(EventKind::load, address, bytes, TREADLE_CALLER); }   \
  void __tsan_write##bytes(void* address) { note(EventKind::store, address, bytes, TREADLE_CALLER); } \
  void __treadle_read##bytes##_more(void* address) {                                                  \
    note_more(EventKind::load, address, bytes, TREADLE_CALLER);                                       \
  }                                                                                                   \
  void __treadle_write##bytes##_more(void* address) {                                                 \
    note_more(EventKind::store, address, bytes, TREADLE_CALLER);                                      \
  }                                                                                                   \
  void __tsan_unaligned_read##bytes(void* address) {                                                  \
    note(EventKind::load, address, bytes, TREADLE_CALLER);                                            \
  }                                                                                                   \
  void __tsan_unaligned_write##bytes(void* address) {                                                 \
    note(EventKind::store, address, bytes, TREADLE_CALLER);                                           \
  }                                                                                                   \
  void __tsan_volatile_read##bytes(void* address) {                                                   \
    poll(address, bytes);                                                                             \
    note(EventKind::load, address, bytes, TREADLE_CALLER);                                            \
  }                                                                                                   \
  void __tsan_volatile_write##bytes(void* address) {                                                  \
    note(EventKind::store, address, bytes, TREADLE_CALLER);                                           \
  }                                                                                                   \
  void __tsan_unaligned_volatile_read##bytes(void* address) {                                         \
    note(EventKind::load, address, bytes, TREADLE_CALLER);                                            \
  }                                                                                                   \
  void __tsan_unaligned_volatile_write##bytes(void* address) {                                        \
    note(EventKind::store, address, bytes, TREADLE_CALLER);                                           \
  }                                                                                                   \
  void __tsan_read_write##bytes(void* address) {                                                      \
    note(EventKind::load, address, bytes, TREADLE_CALLER);                                            \
    note(EventKind::store, address, bytes, TREADLE_CALLER);                                           \
  }
TREADLE_ACCESSES(1)
TREADLE_ACCESSES(2)
TREADLE_ACCESSES(4)
TREADLE_ACCESSES(8)
TREADLE_ACCESSES(16)
void __tsan_read_range(void* address, size_t bytes) {
  note_range(EventKind::load, address, bytes, TREADLE_CALLER);
}
void __tsan_write_range(void* address, size_t bytes) {
  note_range(EventKind::store, address, bytes, TREADLE_CALLER);
}
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}
}
#include "treadle/simt/check/runtime/language_atomics.h"
// NOLINTEND
